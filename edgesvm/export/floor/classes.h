/* Class indices. Outside, they count the labels as they sort, like the host's classes_. The learner
 * counts them in its slots, as they came. */

#define ESVM_SLOT_OF(index) ESVM_TOP(labels_order)[index]

ESVM_STATIC int ESVM_NAME(index_of)(int slot) {
    int i = 0;
    while (ESVM_SLOT_OF(i) != slot) i++;
    return i;
}
