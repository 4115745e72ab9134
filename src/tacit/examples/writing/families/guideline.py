"""Pages of a handbook: no person, many capitals and eponyms."""

SPLIT = "calibrate"
COUNTRY = "uk"
RULES = {
    "start": [
        "{head}\n\n{3-6*para}\n\n{head}\n{3-6/bullet}\n",
        "{3-7*para}\n",
        "{head}\n{4-7/bullet}\n\n{2-4*para}\n",
    ],
    "head": [
        "Management of {dx}",
        "CHAPTER {n:2-40}: {eponym}",
        "Box {n:1-9}. {sign} and {sign}",
        "Dosing of {drug}",
        "RED FLAGS",
        "Key Points",
        "Table {n:1-9}. Criteria for {eponym}",
        "When to Refer",
    ],
    "para": [
        "First described in the nineteenth century, {eponym} remains a clinical diagnosis.",
        "Give {drug} or, failing that, {drug}.",
        "Patients with {dx} should have {acronym} {reltime}.",
        "A positive {sign} supports {dx} but does not exclude {eponym}.",
        "In children, {score} guides treatment.",
        "The {tool} should be removed as soon as possible.",
        "Beware of {eponym}, which mimics {dx}.",
        "Values such as {lab} or {lab} warrant review.",
        "The <World Health Organization> and <NICE> advise {drug}.",
        "<Wald test> and <Kaplan-Meier> curves favour {drug}.",
        "See <Figure {n:1-9}> and <Appendix B>.",
        "<Monday> clinics follow the <Manchester Triage> system.",
        "Use the <Ishihara plates> and the <Snellen chart>.",
        "<Virchow's triad> applies.",
        "<Starling> forces explain the oedema.",
        "<Koch's postulates> are met.",
        "The <Frank-Starling> curve shifts.",
        "<Bacillus Calmette-Guerin> is given at birth.",
        "<Weil's disease> follows exposure to <Leptospira>.",
    ],
    "bullet": [
        "- {dx}: {drug}",
        "- {score}",
        "- Check {lab}",
        "- {eponym}",
        "- Insert {tool}",
        "* {acronym} within <24 hours>",
        "- Consider {eponym} if {sign}",
        "- Avoid {drug} in {dx}",
        "- Stage <T2N1M0>",
        "- Grade <II/IV>",
    ],
}
