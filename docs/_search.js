// Pages that teach come before those that list: a tutorial, then guides, then figures and notes.
var Scorer = {
  score: ([page, , , , score]) => {
    if (page === "docs/vibration-monitor") return score + 12;
    if (/^(benchmarks|CHANGELOG|docs\/notes)/.test(page)) return score - 20;
    return /^docs\/(?!index$)[\w-]+$/.test(page) ? score + 6 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
