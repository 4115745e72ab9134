"""The chapters and blocks of the International Classification of Diseases.

Only the structure is held: chapter numbers, titles and code ranges. ICD-10 follows the WHO edition of
2010, whose ranges hold those of later editions; a chapter's range is widened where the United States'
clinical modification adds categories. ICD-9 follows the last edition of ICD-9-CM (2014).

References
----------
World Health Organization (2011), International Statistical Classification of Diseases and Related
Health Problems, 10th Revision, 2010 edition, Volume 1.
National Center for Health Statistics (2011), ICD-9-CM, 6th edition, Volume 1.
"""

from __future__ import annotations

from typing import NamedTuple


class Chapter(NamedTuple):
    """A chapter: its number, range of categories, title and blocks (ranges parted by blanks)."""

    number: str
    first: str
    last: str
    title: str
    blocks: str


ICD10 = (
    Chapter(
        "I",
        "A00",
        "B99",
        "Certain infectious and parasitic diseases",
        "A00-A09 A15-A19 A20-A28 A30-A49 A50-A64 A65-A69 A70-A74 A75-A79 A80-A89 A90-A99 B00-B09 "
        "B15-B19 B20-B24 B25-B34 B35-B49 B50-B64 B65-B83 B85-B89 B90-B94 B95-B98 B99",
    ),
    Chapter(
        "II",
        "C00",
        "D49",
        "Neoplasms",
        "C00-C14 C15-C26 C30-C39 C40-C41 C43-C44 C45-C49 C50 C51-C58 C60-C63 C64-C68 C69-C72 "
        "C73-C75 C76-C80 C81-C96 C97 D00-D09 D10-D36 D37-D48",
    ),
    Chapter(
        "III",
        "D50",
        "D89",
        "Diseases of the blood and certain disorders of the immune mechanism",
        "D50-D53 D55-D59 D60-D64 D65-D69 D70-D77 D80-D89",
    ),
    Chapter(
        "IV",
        "E00",
        "E90",
        "Endocrine, nutritional and metabolic diseases",
        "E00-E07 E10-E14 E15-E16 E20-E35 E40-E46 E50-E64 E65-E68 E70-E90",
    ),
    Chapter(
        "V",
        "F00",
        "F99",
        "Mental and behavioural disorders",
        "F00-F09 F10-F19 F20-F29 F30-F39 F40-F48 F50-F59 F60-F69 F70-F79 F80-F89 F90-F98 F99",
    ),
    Chapter(
        "VI",
        "G00",
        "G99",
        "Diseases of the nervous system",
        "G00-G09 G10-G14 G20-G26 G30-G32 G35-G37 G40-G47 G50-G59 G60-G64 G70-G73 G80-G83 G90-G99",
    ),
    Chapter(
        "VII",
        "H00",
        "H59",
        "Diseases of the eye and adnexa",
        "H00-H06 H10-H13 H15-H22 H25-H28 H30-H36 H40-H42 H43-H45 H46-H48 H49-H52 H53-H54 H55-H59",
    ),
    Chapter(
        "VIII",
        "H60",
        "H95",
        "Diseases of the ear and mastoid process",
        "H60-H62 H65-H75 H80-H83 H90-H95",
    ),
    Chapter(
        "IX",
        "I00",
        "I99",
        "Diseases of the circulatory system",
        "I00-I02 I05-I09 I10-I15 I20-I25 I26-I28 I30-I52 I60-I69 I70-I79 I80-I89 I95-I99",
    ),
    Chapter(
        "X",
        "J00",
        "J99",
        "Diseases of the respiratory system",
        "J00-J06 J09-J18 J20-J22 J30-J39 J40-J47 J60-J70 J80-J84 J85-J86 J90-J94 J95-J99",
    ),
    Chapter(
        "XI",
        "K00",
        "K95",
        "Diseases of the digestive system",
        "K00-K14 K20-K31 K35-K38 K40-K46 K50-K52 K55-K63 K65-K67 K70-K77 K80-K87 K90-K93",
    ),
    Chapter(
        "XII",
        "L00",
        "L99",
        "Diseases of the skin and subcutaneous tissue",
        "L00-L08 L10-L14 L20-L30 L40-L45 L50-L54 L55-L59 L60-L75 L80-L99",
    ),
    Chapter(
        "XIII",
        "M00",
        "M99",
        "Diseases of the musculoskeletal system and connective tissue",
        "M00-M03 M05-M14 M15-M19 M20-M25 M30-M36 M40-M43 M45-M49 M50-M54 M60-M63 M65-M68 M70-M79 "
        "M80-M85 M86-M90 M91-M94 M95-M99",
    ),
    Chapter(
        "XIV",
        "N00",
        "N99",
        "Diseases of the genitourinary system",
        "N00-N08 N10-N16 N17-N19 N20-N23 N25-N29 N30-N39 N40-N51 N60-N64 N70-N77 N80-N98 N99",
    ),
    Chapter(
        "XV",
        "O00",
        "O9A",
        "Pregnancy, childbirth and the puerperium",
        "O00-O08 O10-O16 O20-O29 O30-O48 O60-O75 O80-O84 O85-O92 O94-O99",
    ),
    Chapter(
        "XVI",
        "P00",
        "P96",
        "Certain conditions originating in the perinatal period",
        "P00-P04 P05-P08 P10-P15 P20-P29 P35-P39 P50-P61 P70-P74 P75-P78 P80-P83 P90-P96",
    ),
    Chapter(
        "XVII",
        "Q00",
        "Q99",
        "Congenital malformations and chromosomal abnormalities",
        "Q00-Q07 Q10-Q18 Q20-Q28 Q30-Q34 Q35-Q37 Q38-Q45 Q50-Q56 Q60-Q64 Q65-Q79 Q80-Q89 Q90-Q99",
    ),
    Chapter(
        "XVIII",
        "R00",
        "R99",
        "Symptoms, signs and abnormal findings, not elsewhere classified",
        "R00-R09 R10-R19 R20-R23 R25-R29 R30-R39 R40-R46 R47-R49 R50-R69 R70-R79 R80-R82 R83-R89 "
        "R90-R94 R95-R99",
    ),
    Chapter(
        "XIX",
        "S00",
        "T98",
        "Injury, poisoning and other consequences of external causes",
        "S00-S09 S10-S19 S20-S29 S30-S39 S40-S49 S50-S59 S60-S69 S70-S79 S80-S89 S90-S99 T00-T07 "
        "T08-T14 T15-T19 T20-T25 T26-T28 T29-T32 T33-T35 T36-T50 T51-T65 T66-T78 T79 T80-T88 T90-T98",
    ),
    Chapter(
        "XX",
        "V00",
        "Y99",
        "External causes of morbidity and mortality",
        "V01-V09 V10-V19 V20-V29 V30-V39 V40-V49 V50-V59 V60-V69 V70-V79 V80-V89 V90-V94 V95-V97 "
        "V98-V99 W00-W19 W20-W49 W50-W64 W65-W74 W75-W84 W85-W99 X00-X09 X10-X19 X20-X29 X30-X39 "
        "X40-X49 X50-X57 X58-X59 X60-X84 X85-Y09 Y10-Y34 Y35-Y36 Y40-Y59 Y60-Y69 Y70-Y82 Y83-Y84 "
        "Y85-Y89 Y90-Y98",
    ),
    Chapter(
        "XXI",
        "Z00",
        "Z99",
        "Factors influencing health status and contact with health services",
        "Z00-Z13 Z20-Z29 Z30-Z39 Z40-Z54 Z55-Z65 Z70-Z76 Z80-Z99",
    ),
    Chapter("XXII", "U00", "U99", "Codes for special purposes", "U00-U49 U80-U89"),
)

#: Categories of the clinical modification that do not sort into the block they belong to.
ICD10_STRAYS = {"C4A": "C43-C44", "M1A": "M05-M14", "O9A": "O94-O99", "Z3A": "Z30-Z39"}

ICD9 = (
    Chapter(
        "1",
        "001",
        "139",
        "Infectious and parasitic diseases",
        "001-009 010-018 020-027 030-041 042 045-049 050-059 060-066 070-079 080-088 090-099 "
        "100-104 110-118 120-129 130-136 137-139",
    ),
    Chapter(
        "2",
        "140",
        "239",
        "Neoplasms",
        "140-149 150-159 160-165 170-176 179-189 190-199 200-208 209 210-229 230-234 235-238 239",
    ),
    Chapter(
        "3",
        "240",
        "279",
        "Endocrine, nutritional and metabolic diseases, and immunity disorders",
        "240-246 249-259 260-269 270-279",
    ),
    Chapter("4", "280", "289", "Diseases of the blood and blood-forming organs", "280-289"),
    Chapter("5", "290", "319", "Mental disorders", "290-294 295-299 300-316 317-319"),
    Chapter(
        "6",
        "320",
        "389",
        "Diseases of the nervous system and sense organs",
        "320-326 327 330-337 338 339 340-349 350-359 360-379 380-389",
    ),
    Chapter(
        "7",
        "390",
        "459",
        "Diseases of the circulatory system",
        "390-392 393-398 401-405 410-414 415-417 420-429 430-438 440-449 451-459",
    ),
    Chapter(
        "8",
        "460",
        "519",
        "Diseases of the respiratory system",
        "460-466 470-478 480-488 490-496 500-508 510-519",
    ),
    Chapter(
        "9",
        "520",
        "579",
        "Diseases of the digestive system",
        "520-529 530-539 540-543 550-553 555-558 560-569 570-579",
    ),
    Chapter(
        "10",
        "580",
        "629",
        "Diseases of the genitourinary system",
        "580-589 590-599 600-608 610-612 614-616 617-629",
    ),
    Chapter(
        "11",
        "630",
        "679",
        "Complications of pregnancy, childbirth and the puerperium",
        "630-633 634-639 640-649 650-659 660-669 670-677 678-679",
    ),
    Chapter(
        "12",
        "680",
        "709",
        "Diseases of the skin and subcutaneous tissue",
        "680-686 690-698 700-709",
    ),
    Chapter(
        "13",
        "710",
        "739",
        "Diseases of the musculoskeletal system and connective tissue",
        "710-719 720-724 725-729 730-739",
    ),
    Chapter("14", "740", "759", "Congenital anomalies", "740-759"),
    Chapter(
        "15",
        "760",
        "779",
        "Certain conditions originating in the perinatal period",
        "760-763 764-779",
    ),
    Chapter(
        "16", "780", "799", "Symptoms, signs and ill-defined conditions", "780-789 790-796 797-799"
    ),
    Chapter(
        "17",
        "800",
        "999",
        "Injury and poisoning",
        "800-804 805-809 810-819 820-829 830-839 840-848 850-854 860-869 870-879 880-887 890-897 "
        "900-904 905-909 910-919 920-924 925-929 930-939 940-949 950-957 958-959 960-979 980-989 "
        "990-995 996-999",
    ),
    Chapter(
        "V",
        "V01",
        "V91",
        "Supplementary classification: factors influencing health status",
        "V01-V06 V07-V09 V10-V19 V20-V29 V30-V39 V40-V49 V50-V59 V60-V69 V70-V82 V83-V84 V85 V86 "
        "V87 V88 V89 V90 V91",
    ),
    Chapter(
        "E",
        "E000",
        "E999",
        "Supplementary classification: external causes of injury and poisoning",
        "E000 E001-E030 E800-E807 E810-E819 E820-E825 E826-E829 E830-E838 E840-E845 E846-E848 E849 "
        "E850-E858 E860-E869 E870-E876 E878-E879 E880-E888 E890-E899 E900-E909 E910-E915 E916-E928 "
        "E929 E930-E949 E950-E959 E960-E969 E970-E978 E979 E980-E989 E990-E999",
    ),
)
