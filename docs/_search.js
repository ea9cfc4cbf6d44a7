// Pages that teach come before those that list: a tutorial, then guides, then figures and notes.
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^docs\/(vibration-monitor|index|which-learner)$/.test(page)) return score + 40;
    if (/^(benchmarks|CHANGELOG|docs\/notes)/.test(page)) return score - 40;
    return /^docs\/[\w-]+$/.test(page) ? score + 10 : score;
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
