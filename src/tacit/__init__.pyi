# Made by scripts/stubs.py from the registry and the public names: do not edit.

from tacit import census as census
from tacit import errors as errors
from tacit import examples as examples
from tacit import governance as governance
from tacit import graphics as graphics
from tacit import hierarchy as hierarchy
from tacit import private as private
from tacit import protect as protect
from tacit import registry as registry
from tacit import risk as risk
from tacit import rumap as rumap
from tacit import series as series
from tacit import stats as stats
from tacit import tables as tables
from tacit import text as text
from tacit import utility as utility
from tacit.comparison import compare as compare
from tacit.data.cells.dimension import Dimension as Dimension
from tacit.data.cells.status import Status as Status
from tacit.data.corpus import Corpus as Corpus
from tacit.data.corpus import Document as Document
from tacit.data.corpus import Span as Span
from tacit.data.hierarchy import Hierarchy as Hierarchy
from tacit.data.microdata import Microdata as Microdata
from tacit.data.presets import preset_notes as preset_notes
from tacit.data.presets import preset_plan as preset_plan
from tacit.data.profile import profile as profile
from tacit.data.profile import starting_plan as starting_plan
from tacit.data.table import Table as Table
from tacit.engine import get_engine as get_engine
from tacit.errors import SdcError as SdcError
from tacit.errors import SdcWarning as SdcWarning
from tacit.graphics.protected_box_plot import ProtectedBoxPlot as ProtectedBoxPlot
from tacit.graphics.protected_density import ProtectedDensity as ProtectedDensity
from tacit.graphics.protected_hexbin import ProtectedHexbin as ProtectedHexbin
from tacit.graphics.protected_histogram import ProtectedHistogram as ProtectedHistogram
from tacit.graphics.protected_qq_plot import ProtectedQqPlot as ProtectedQqPlot
from tacit.graphics.protected_quantiles import ProtectedQuantiles as ProtectedQuantiles
from tacit.graphics.protected_roc import ProtectedRoc as ProtectedRoc
from tacit.graphics.protected_survival import ProtectedSurvival as ProtectedSurvival
from tacit.graphics.protected_table import ProtectedTable as ProtectedTable
from tacit.io.corpora import read_texts as read_texts
from tacit.io.corpora.writing import write_texts as write_texts
from tacit.io.read import read as read
from tacit.plan import Plan as Plan
from tacit.plot_release import release_plots as release_plots
from tacit.protect import channels as channels
from tacit.protect import pram as pram
from tacit.protect.anonymise.anonymise import Anonymise as Anonymise
from tacit.protect.anonymise.local_recode import LocalRecode as LocalRecode
from tacit.protect.census.delete_digits import DeleteDigits as DeleteDigits
from tacit.protect.census.geography_threshold import GeographyThreshold as GeographyThreshold
from tacit.protect.census.remove_columns import RemoveColumns as RemoveColumns
from tacit.protect.census.sample_households import SampleHouseholds as SampleHouseholds
from tacit.protect.census.shuffle_households import ShuffleHouseholds as ShuffleHouseholds
from tacit.protect.channels.channel_expansion import ChannelExpansion as ChannelExpansion
from tacit.protect.decision.min_risk import MinRisk as MinRisk
from tacit.protect.generalise.datafly import Datafly as Datafly
from tacit.protect.generalise.generalise import Generalise as Generalise
from tacit.protect.generalise.k_similar import KSimilar as KSimilar
from tacit.protect.generalise.recode import Recode as Recode
from tacit.protect.generalise.round_tiers import RoundTiers as RoundTiers
from tacit.protect.generalise.round_values import RoundValues as RoundValues
from tacit.protect.generalise.top_bottom_code import TopBottomCode as TopBottomCode
from tacit.protect.identifiers.deidentify import Deidentify as Deidentify
from tacit.protect.identifiers.pseudonymise import Pseudonymise as Pseudonymise
from tacit.protect.identifiers.record_keys import RecordKeys as RecordKeys
from tacit.protect.identifiers.substitute import Substitute as Substitute
from tacit.protect.microaggregate import grouping as microaggregation
from tacit.protect.microaggregate.file_order_groups import FileOrderGroups as FileOrderGroups
from tacit.protect.microaggregate.individual_ranking import IndividualRanking as IndividualRanking
from tacit.protect.microaggregate.influence_groups import InfluenceGroups as InfluenceGroups
from tacit.protect.microaggregate.learning_automaton import LearningAutomaton as LearningAutomaton
from tacit.protect.microaggregate.mdav import Mdav as Mdav
from tacit.protect.microaggregate.microaggregate_mixed import MicroaggregateMixed as MicroaggregateMixed
from tacit.protect.microaggregate.microaggregate_series import MicroaggregateSeries as MicroaggregateSeries
from tacit.protect.microaggregate.mu_approximation import MuApproximation as MuApproximation
from tacit.protect.microaggregate.optimal_groups import OptimalGroups as OptimalGroups
from tacit.protect.microaggregate.optimal_univariate import OptimalUnivariate as OptimalUnivariate
from tacit.protect.microaggregate.path_groups import PathGroups as PathGroups
from tacit.protect.microaggregate.robust_distance_groups import RobustDistanceGroups as RobustDistanceGroups
from tacit.protect.microaggregate.sort_by_column import SortByColumn as SortByColumn
from tacit.protect.microaggregate.sort_by_component import SortByComponent as SortByComponent
from tacit.protect.microaggregate.sort_by_projection_pursuit import SortByProjectionPursuit as SortByProjectionPursuit
from tacit.protect.microaggregate.sort_by_robust_component import SortByRobustComponent as SortByRobustComponent
from tacit.protect.microaggregate.sort_by_zscores import SortByZscores as SortByZscores
from tacit.protect.microaggregate.spanning_tree_groups import SpanningTreeGroups as SpanningTreeGroups
from tacit.protect.microaggregate.two_approximation import TwoApproximation as TwoApproximation
from tacit.protect.microaggregate.v_mdav import VMdav as VMdav
from tacit.protect.microaggregate.ward_groups import WardGroups as WardGroups
from tacit.protect.noise.add_noise import AddNoise as AddNoise
from tacit.protect.noise.correlated_noise import CorrelatedNoise as CorrelatedNoise
from tacit.protect.noise.deconvolution_noise import DeconvolutionNoise as DeconvolutionNoise
from tacit.protect.noise.local_noise import LocalNoise as LocalNoise
from tacit.protect.noise.multi_stage import MultiStage as MultiStage
from tacit.protect.noise.multiplicative_noise import MultiplicativeNoise as MultiplicativeNoise
from tacit.protect.noise.noise_before_tabulation import NoiseBeforeTabulation as NoiseBeforeTabulation
from tacit.protect.noise.outlier_noise import OutlierNoise as OutlierNoise
from tacit.protect.noise.outlier_to_median import OutlierToMedian as OutlierToMedian
from tacit.protect.noise.perturb import Perturb as Perturb
from tacit.protect.noise.restoring_noise import RestoringNoise as RestoringNoise
from tacit.protect.noise.restricted_noise import RestrictedNoise as RestrictedNoise
from tacit.protect.noise.romm import Romm as Romm
from tacit.protect.noise.two_stage import TwoStage as TwoStage
from tacit.protect.noise.weight_noise import WeightNoise as WeightNoise
from tacit.protect.outputs.check_fit import CheckFit as CheckFit
from tacit.protect.pram.pram import Pram as Pram
from tacit.protect.suppress.blank import Blank as Blank
from tacit.protect.suppress.local_suppression import LocalSuppression as LocalSuppression
from tacit.protect.suppress.mu_argus import MuArgus as MuArgus
from tacit.protect.suppress.suppress import Suppress as Suppress
from tacit.protect.swap.microaggregated_swap import MicroaggregatedSwap as MicroaggregatedSwap
from tacit.protect.swap.rank_swap import RankSwap as RankSwap
from tacit.protect.swap.scramble import Scramble as Scramble
from tacit.protect.swap.shuffle import Shuffle as Shuffle
from tacit.protect.swap.swap import Swap as Swap
from tacit.protect.swap.swap_households import SwapHouseholds as SwapHouseholds
from tacit.protect.swap.swap_records import SwapRecords as SwapRecords
from tacit.protect.synthesise.add_tuples import AddTuples as AddTuples
from tacit.protect.synthesise.impute import Impute as Impute
from tacit.protect.synthesise.ipso import Ipso as Ipso
from tacit.protect.synthesise.latin_hypercube import LatinHypercube as LatinHypercube
from tacit.protect.synthesise.sample import Sample as Sample
from tacit.protect.synthesise.simulate_bounded import SimulateBounded as SimulateBounded
from tacit.protect.synthesise.synthesise import Synthesise as Synthesise
from tacit.protect.weights.calibrate import Calibrate as Calibrate
from tacit.recommendation import recommend as recommend
from tacit.registry import register as register
from tacit.release import Release as Release
from tacit.result import Result as Result
from tacit.reveal import show_values as show_values
from tacit.risk import linkage as linkage
from tacit.risk.classes.alpha_k import AlphaK as AlphaK
from tacit.risk.classes.attack_risk import AttackRisk as AttackRisk
from tacit.risk.classes.beta_likeness import BetaLikeness as BetaLikeness
from tacit.risk.classes.delta_disclosure import DeltaDisclosure as DeltaDisclosure
from tacit.risk.classes.k_anonymity import KAnonymity as KAnonymity
from tacit.risk.classes.l_diversity import LDiversity as LDiversity
from tacit.risk.classes.lkc import Lkc as Lkc
from tacit.risk.classes.query_restriction import QueryRestriction as QueryRestriction
from tacit.risk.classes.small_cells import SmallCells as SmallCells
from tacit.risk.classes.suda import Suda as Suda
from tacit.risk.classes.summaries import Summaries as Summaries
from tacit.risk.classes.t_closeness import TCloseness as TCloseness
from tacit.risk.classes.uniqueness import Uniqueness as Uniqueness
from tacit.risk.columns.direct_identifiers import DirectIdentifiers as DirectIdentifiers
from tacit.risk.columns.quasi_identifier_search import QuasiIdentifierSearch as QuasiIdentifierSearch
from tacit.risk.columns.safe_harbor import SafeHarbor as SafeHarbor
from tacit.risk.decision.decision_risk import DecisionRisk as DecisionRisk
from tacit.risk.disclosure.cell_spread import CellSpread as CellSpread
from tacit.risk.disclosure.index_disclosure import IndexDisclosure as IndexDisclosure
from tacit.risk.disclosure.interval_disclosure import IntervalDisclosure as IntervalDisclosure
from tacit.risk.disclosure.noise_ellipsoid import NoiseEllipsoid as NoiseEllipsoid
from tacit.risk.disclosure.noise_protection import NoiseProtection as NoiseProtection
from tacit.risk.disclosure.rank_bounds import RankBounds as RankBounds
from tacit.risk.disclosure.robust_disclosure import RobustDisclosure as RobustDisclosure
from tacit.risk.disclosure.swap_audit import SwapAudit as SwapAudit
from tacit.risk.disclosure.value_disclosure import ValueDisclosure as ValueDisclosure
from tacit.risk.linkage.conditional_linkage import ConditionalLinkage as ConditionalLinkage
from tacit.risk.linkage.distance_linkage import DistanceLinkage as DistanceLinkage
from tacit.risk.linkage.linkage_futility import LinkageFutility as LinkageFutility
from tacit.risk.linkage.probabilistic_linkage import ProbabilisticLinkage as ProbabilisticLinkage
from tacit.risk.linkage.reidentification import Reidentification as Reidentification
from tacit.risk.linkage.series_linkage import SeriesLinkage as SeriesLinkage
from tacit.risk.models.blanking_risk import BlankingRisk as BlankingRisk
from tacit.risk.models.global_risk import GlobalRisk as GlobalRisk
from tacit.risk.models.pram_risk import PramRisk as PramRisk
from tacit.risk.register.ads0 import Ads0 as Ads0
from tacit.risk.register.delta_presence import DeltaPresence as DeltaPresence
from tacit.risk.register.explicit_identifier import ExplicitIdentifier as ExplicitIdentifier
from tacit.risk.register.k_map import KMap as KMap
from tacit.risk.register.null_map import NullMap as NullMap
from tacit.risk.register.wrong_map import WrongMap as WrongMap
from tacit.risk.sample.individual_risk import IndividualRisk as IndividualRisk
from tacit.risk.sample.population_uniqueness import PopulationUniqueness as PopulationUniqueness
from tacit.risk.sample.sample_risk import SampleRisk as SampleRisk
from tacit.risk.sample.sampling_uniqueness import SamplingUniqueness as SamplingUniqueness
from tacit.risk.synthetic.design_risk import DesignRisk as DesignRisk
from tacit.risk.synthetic.inference import Inference as Inference
from tacit.risk.synthetic.linkability import Linkability as Linkability
from tacit.risk.synthetic.singling import Singling as Singling
from tacit.risk.synthetic.synthetic_risk import SyntheticRisk as SyntheticRisk
from tacit.rumap import RUMap as RUMap
from tacit.rumap.additive_noise import AdditiveNoiseMap as AdditiveNoiseMap
from tacit.spec import Measure as Measure
from tacit.spec import Method as Method
from tacit.stats import correction as estimate
from tacit.tables import compare as framework
from tacit.tables.adjust.adjust import Adjust as Adjust
from tacit.tables.adjust.adjust_mdi import AdjustMdi as AdjustMdi
from tacit.tables.adjust.adjustment_report import AdjustmentReport as AdjustmentReport
from tacit.tables.adjust.publish_intervals import PublishIntervals as PublishIntervals
from tacit.tables.agencies.coordinate import Coordinate as Coordinate
from tacit.tables.agencies.mixed_strategy import MixedStrategy as MixedStrategy
from tacit.tables.attack.audit import Audit as Audit
from tacit.tables.attack.complements import Complements as Complements
from tacit.tables.attack.group_disclosure import GroupDisclosure as GroupDisclosure
from tacit.tables.compare.cell_loss import CellLoss as CellLoss
from tacit.tables.compare.table_comparison import TableComparison as TableComparison
from tacit.tables.margins.entry_uniqueness import EntryUniqueness as EntryUniqueness
from tacit.tables.margins.margin_disclosure import MarginDisclosure as MarginDisclosure
from tacit.tables.noise.cell_key import CellKey as CellKey
from tacit.tables.rounding.controlled_rounding import ControlledRounding as ControlledRounding
from tacit.tables.rounding.half_rounding import HalfRounding as HalfRounding
from tacit.tables.rounding.random_rounding import RandomRounding as RandomRounding
from tacit.tables.rounding.round_small_counts import RoundSmallCounts as RoundSmallCounts
from tacit.tables.rounding.rounding_effects import RoundingEffects as RoundingEffects
from tacit.tables.rules.direct_disclosure import DirectDisclosure as DirectDisclosure
from tacit.tables.rules.dominance import Dominance as Dominance
from tacit.tables.rules.k_disclosure import KDisclosure as KDisclosure
from tacit.tables.rules.minimum_frequency import MinimumFrequency as MinimumFrequency
from tacit.tables.rules.p_percent import PPercent as PPercent
from tacit.tables.rules.pq import Pq as Pq
from tacit.tables.rules.recode_table import RecodeTable as RecodeTable
from tacit.tables.rules.request import Request as Request
from tacit.tables.rules.select_cells import SelectCells as SelectCells
from tacit.tables.rules.set_status import SetStatus as SetStatus
from tacit.tables.rules.zero_cells import ZeroCells as ZeroCells
from tacit.tables.structure.block_structure import BlockStructure as BlockStructure
from tacit.tables.suppress.suppress_exact import SuppressExact as SuppressExact
from tacit.tables.suppress.suppress_gauss import SuppressGauss as SuppressGauss
from tacit.tables.suppress.suppress_hypercube import SuppressHypercube as SuppressHypercube
from tacit.tables.suppress.suppress_linear import SuppressLinear as SuppressLinear
from tacit.tables.suppress.suppress_modular import SuppressModular as SuppressModular
from tacit.tables.suppress.suppress_network import SuppressNetwork as SuppressNetwork
from tacit.tables.suppress.suppress_partial import SuppressPartial as SuppressPartial
from tacit.text.scrub import Scrub as Scrub
from tacit.text.text_risk import TextRisk as TextRisk
from tacit.text.text_utility import TextUtility as TextUtility
from tacit.tiers import Tiers as Tiers
from tacit.tiers import UserGroup as UserGroup
from tacit.utility.levels.entropy_distortion import EntropyDistortion as EntropyDistortion
from tacit.utility.levels.precision import Precision as Precision
from tacit.utility.models.analytic_validity import AnalyticValidity as AnalyticValidity
from tacit.utility.models.design_effect import DesignEffect as DesignEffect
from tacit.utility.models.estimate_change import EstimateChange as EstimateChange
from tacit.utility.models.estimate_precision import EstimatePrecision as EstimatePrecision
from tacit.utility.models.pram_estimate import PramEstimate as PramEstimate
from tacit.utility.models.pram_loss import PramLoss as PramLoss
from tacit.utility.models.regression_change import RegressionChange as RegressionChange
from tacit.utility.models.simex import Simex as Simex
from tacit.utility.models.synthetic_estimates import SyntheticEstimates as SyntheticEstimates
from tacit.utility.models.train_on_synthetic import TrainOnSynthetic as TrainOnSynthetic
from tacit.utility.moments.correlation_change import CorrelationChange as CorrelationChange
from tacit.utility.moments.decile_change import DecileChange as DecileChange
from tacit.utility.moments.distance_table import DistanceTable as DistanceTable
from tacit.utility.moments.information_loss import InformationLoss as InformationLoss
from tacit.utility.moments.kullback_leibler import KullbackLeibler as KullbackLeibler
from tacit.utility.moments.margin_change import MarginChange as MarginChange
from tacit.utility.moments.moment_change import MomentChange as MomentChange
from tacit.utility.moments.propensity import Propensity as Propensity
from tacit.utility.table_loss import TableLoss as TableLoss
from tacit.verification import verify as verify

__version__: str

__all__ = [
    "read",
    "read_texts",
    "write_texts",
    "Microdata",
    "Hierarchy",
    "Dimension",
    "Table",
    "Status",
    "Plan",
    "Release",
    "RUMap",
    "Tiers",
    "UserGroup",
    "Corpus",
    "Document",
    "Span",
    "verify",
    "compare",
    "release_plots",
    "recommend",
    "AdditiveNoiseMap",
    "profile",
    "starting_plan",
    "preset_plan",
    "preset_notes",
    "get_engine",
    "register",
    "show_values",
    "Method",
    "Measure",
    "Result",
    "SdcError",
    "SdcWarning",
    "census",
    "channels",
    "errors",
    "estimate",
    "examples",
    "framework",
    "governance",
    "graphics",
    "hierarchy",
    "linkage",
    "microaggregation",
    "pram",
    "private",
    "protect",
    "registry",
    "risk",
    "rumap",
    "series",
    "stats",
    "tables",
    "text",
    "utility",
]
