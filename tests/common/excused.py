"""Specs that legitimately cannot keep a promise, with the reason; the battery fails when one could."""

ONE_PASS = "it works in one pass without a loop; a job stops it from beside"
DISTINCT = (
    "it reads the distinct values of identifiers or texts, of which there are as many as records"
)

EXCUSED: dict[str, dict[str, str]] = {
    "position_does_not_matter": {
        "file_order_groups": "it groups records that follow each other in the file, which is its definition",
        "microaggregate_series": "series at equal distances join the group of the one that comes first",
    },
    "missing_values_stay_missing": {
        "impute": "it fills in missing values, which is its purpose",
        "synthesise": "its records are made anew from a model",
    },
    "nothing_of_records_is_noted": {
        "channel_expansion": "its claim lists the combinations of released columns, which are public with it",
    },
    "records_are_gathered_only_if_it_says_so": {
        **dict.fromkeys(("pseudonymise", "safe_harbor", "scrub", "substitute"), DISTINCT),
        "sample": "it counts draws in thousands of intervals, of which a small file fills as many as it has records",
    },
    "can_be_cancelled_in_the_middle": dict.fromkeys(
        (
            *(
                "add_tuples",
                "adjustment_report",
                "blank",
                "blanking_risk",
                "cell_loss",
                "cell_spread",
            ),
            *(
                "check_fit",
                "complements",
                "datafly",
                "deidentify",
                "design_risk",
                "direct_disclosure",
            ),
            *("dominance", "geography_threshold", "group_disclosure", "half_rounding", "impute"),
            *(
                "k_disclosure",
                "minimum_frequency",
                "outlier_to_median",
                "p_percent",
                "pq",
                "pram_loss",
            ),
            *("random_rounding", "recode", "recode_table", "remove_columns", "request"),
            *("round_small_counts", "set_status", "zero_cells"),
            *("rounding_effects", "select_cells", "shuffle_households", "suppress"),
        ),
        ONE_PASS,
    ),
}
