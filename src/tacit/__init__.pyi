# Made by scripts/generate from the registry and the public names: do not edit.

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
from tacit import series as series
from tacit import stats as stats
from tacit import tables as tables
from tacit import text as text
from tacit import utility as utility
from tacit.alternatives import rumap as rumap
from tacit.alternatives.comparison.compare import compare as compare
from tacit.alternatives.recommendation import recommend as recommend
from tacit.alternatives.rumap import RUMap as RUMap
from tacit.alternatives.tiers import Tiers as Tiers
from tacit.alternatives.tiers import UserGroup as UserGroup
from tacit.data.cells.dimension import Dimension as Dimension
from tacit.data.cells.status import Status as Status
from tacit.data.corpus import Corpus as Corpus
from tacit.data.corpus import Document as Document
from tacit.data.corpus import Span as Span
from tacit.data.hierarchy import Hierarchy as Hierarchy
from tacit.data.microdata import Microdata as Microdata
from tacit.data.profiling.presets import preset_notes as preset_notes
from tacit.data.profiling.presets import preset_plan as preset_plan
from tacit.data.profiling.profile import profile as profile
from tacit.data.profiling.profile import starting_plan as starting_plan
from tacit.data.table import Table as Table
from tacit.engine import get_engine as get_engine
from tacit.errors import SdcError as SdcError
from tacit.errors import SdcWarning as SdcWarning
from tacit.events import Event as Event
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
from tacit.private.regression.check_fit import CheckFit as CheckFit
from tacit.records import channels as channels
from tacit.records import linkage as linkage
from tacit.records import pram as pram
from tacit.records.census.delete_digits import DeleteDigits as DeleteDigits
from tacit.records.census.geography_threshold import GeographyThreshold as GeographyThreshold
from tacit.records.census.remove_columns import RemoveColumns as RemoveColumns
from tacit.records.census.sample_households import SampleHouseholds as SampleHouseholds
from tacit.records.census.shuffle_households import ShuffleHouseholds as ShuffleHouseholds
from tacit.records.channels.channel_expansion import ChannelExpansion as ChannelExpansion
from tacit.records.classes.alpha_k import AlphaK as AlphaK
from tacit.records.classes.anonymise.anonymise import Anonymise as Anonymise
from tacit.records.classes.anonymise.local_recode import LocalRecode as LocalRecode
from tacit.records.classes.attack_risk import AttackRisk as AttackRisk
from tacit.records.classes.beta_likeness import BetaLikeness as BetaLikeness
from tacit.records.classes.delta_disclosure import DeltaDisclosure as DeltaDisclosure
from tacit.records.classes.k_anonymity import KAnonymity as KAnonymity
from tacit.records.classes.l_diversity import LDiversity as LDiversity
from tacit.records.classes.lkc import Lkc as Lkc
from tacit.records.classes.query_restriction import QueryRestriction as QueryRestriction
from tacit.records.classes.small_cells import SmallCells as SmallCells
from tacit.records.classes.suda import Suda as Suda
from tacit.records.classes.summaries import Summaries as Summaries
from tacit.records.classes.t_closeness import TCloseness as TCloseness
from tacit.records.classes.uniqueness import Uniqueness as Uniqueness
from tacit.records.decision.decision_risk import DecisionRisk as DecisionRisk
from tacit.records.decision.min_risk import MinRisk as MinRisk
from tacit.records.generalisation.datafly import Datafly as Datafly
from tacit.records.generalisation.entropy_distortion import EntropyDistortion as EntropyDistortion
from tacit.records.generalisation.generalise import Generalise as Generalise
from tacit.records.generalisation.k_similar import KSimilar as KSimilar
from tacit.records.generalisation.precision import Precision as Precision
from tacit.records.generalisation.recode import Recode as Recode
from tacit.records.generalisation.round_tiers import RoundTiers as RoundTiers
from tacit.records.generalisation.round_values import RoundValues as RoundValues
from tacit.records.generalisation.top_bottom_code import TopBottomCode as TopBottomCode
from tacit.records.global_risk.global_risk import GlobalRisk as GlobalRisk
from tacit.records.identifiers.columns.direct_identifiers import DirectIdentifiers as DirectIdentifiers
from tacit.records.identifiers.columns.quasi_identifier_search import QuasiIdentifierSearch as QuasiIdentifierSearch
from tacit.records.identifiers.columns.safe_harbor import SafeHarbor as SafeHarbor
from tacit.records.identifiers.deidentify import Deidentify as Deidentify
from tacit.records.identifiers.pseudonymise import Pseudonymise as Pseudonymise
from tacit.records.identifiers.record_keys import RecordKeys as RecordKeys
from tacit.records.identifiers.substitute import Substitute as Substitute
from tacit.records.linkage.conditional_linkage import ConditionalLinkage as ConditionalLinkage
from tacit.records.linkage.distance_linkage import DistanceLinkage as DistanceLinkage
from tacit.records.linkage.linkage_futility import LinkageFutility as LinkageFutility
from tacit.records.linkage.probabilistic_linkage import ProbabilisticLinkage as ProbabilisticLinkage
from tacit.records.linkage.reidentification import Reidentification as Reidentification
from tacit.records.linkage.series_linkage import SeriesLinkage as SeriesLinkage
from tacit.records.microaggregation import grouping as microaggregation
from tacit.records.microaggregation.file_order_groups import FileOrderGroups as FileOrderGroups
from tacit.records.microaggregation.individual_ranking import IndividualRanking as IndividualRanking
from tacit.records.microaggregation.influence_groups import InfluenceGroups as InfluenceGroups
from tacit.records.microaggregation.learning_automaton import LearningAutomaton as LearningAutomaton
from tacit.records.microaggregation.mdav import Mdav as Mdav
from tacit.records.microaggregation.microaggregate_mixed import MicroaggregateMixed as MicroaggregateMixed
from tacit.records.microaggregation.microaggregate_series import MicroaggregateSeries as MicroaggregateSeries
from tacit.records.microaggregation.mu_approximation import MuApproximation as MuApproximation
from tacit.records.microaggregation.optimal_groups import OptimalGroups as OptimalGroups
from tacit.records.microaggregation.optimal_univariate import OptimalUnivariate as OptimalUnivariate
from tacit.records.microaggregation.path_groups import PathGroups as PathGroups
from tacit.records.microaggregation.robust_distance_groups import RobustDistanceGroups as RobustDistanceGroups
from tacit.records.microaggregation.sort_by_column import SortByColumn as SortByColumn
from tacit.records.microaggregation.sort_by_component import SortByComponent as SortByComponent
from tacit.records.microaggregation.sort_by_projection_pursuit import SortByProjectionPursuit as SortByProjectionPursuit
from tacit.records.microaggregation.sort_by_robust_component import SortByRobustComponent as SortByRobustComponent
from tacit.records.microaggregation.sort_by_zscores import SortByZscores as SortByZscores
from tacit.records.microaggregation.spanning_tree_groups import SpanningTreeGroups as SpanningTreeGroups
from tacit.records.microaggregation.two_approximation import TwoApproximation as TwoApproximation
from tacit.records.microaggregation.v_mdav import VMdav as VMdav
from tacit.records.microaggregation.ward_groups import WardGroups as WardGroups
from tacit.records.noise.add_noise import AddNoise as AddNoise
from tacit.records.noise.correlated_noise import CorrelatedNoise as CorrelatedNoise
from tacit.records.noise.deconvolution_noise import DeconvolutionNoise as DeconvolutionNoise
from tacit.records.noise.local_noise import LocalNoise as LocalNoise
from tacit.records.noise.multi_stage import MultiStage as MultiStage
from tacit.records.noise.multiplicative_noise import MultiplicativeNoise as MultiplicativeNoise
from tacit.records.noise.noise_before_tabulation import NoiseBeforeTabulation as NoiseBeforeTabulation
from tacit.records.noise.noise_ellipsoid import NoiseEllipsoid as NoiseEllipsoid
from tacit.records.noise.outlier_noise import OutlierNoise as OutlierNoise
from tacit.records.noise.outlier_to_median import OutlierToMedian as OutlierToMedian
from tacit.records.noise.perturb import Perturb as Perturb
from tacit.records.noise.restoring_noise import RestoringNoise as RestoringNoise
from tacit.records.noise.restricted_noise import RestrictedNoise as RestrictedNoise
from tacit.records.noise.romm import Romm as Romm
from tacit.records.noise.two_stage import TwoStage as TwoStage
from tacit.records.noise.weight_noise import WeightNoise as WeightNoise
from tacit.records.pram.pram import Pram as Pram
from tacit.records.pram.pram_estimate import PramEstimate as PramEstimate
from tacit.records.pram.pram_loss import PramLoss as PramLoss
from tacit.records.pram.pram_risk import PramRisk as PramRisk
from tacit.records.register.ads0 import Ads0 as Ads0
from tacit.records.register.delta_presence import DeltaPresence as DeltaPresence
from tacit.records.register.explicit_identifier import ExplicitIdentifier as ExplicitIdentifier
from tacit.records.register.k_map import KMap as KMap
from tacit.records.register.null_map import NullMap as NullMap
from tacit.records.register.wrong_map import WrongMap as WrongMap
from tacit.records.samples.design_effect import DesignEffect as DesignEffect
from tacit.records.samples.individual_risk import IndividualRisk as IndividualRisk
from tacit.records.samples.population_uniqueness import PopulationUniqueness as PopulationUniqueness
from tacit.records.samples.sample_risk import SampleRisk as SampleRisk
from tacit.records.samples.sampling_uniqueness import SamplingUniqueness as SamplingUniqueness
from tacit.records.samples.weights.calibrate import Calibrate as Calibrate
from tacit.records.suppression.blank import Blank as Blank
from tacit.records.suppression.blanking_risk import BlankingRisk as BlankingRisk
from tacit.records.suppression.local_suppression import LocalSuppression as LocalSuppression
from tacit.records.suppression.mu_argus import MuArgus as MuArgus
from tacit.records.suppression.suppress import Suppress as Suppress
from tacit.records.swapping.microaggregated_swap import MicroaggregatedSwap as MicroaggregatedSwap
from tacit.records.swapping.rank_bounds import RankBounds as RankBounds
from tacit.records.swapping.rank_swap import RankSwap as RankSwap
from tacit.records.swapping.scramble import Scramble as Scramble
from tacit.records.swapping.shuffle import Shuffle as Shuffle
from tacit.records.swapping.swap import Swap as Swap
from tacit.records.swapping.swap_audit import SwapAudit as SwapAudit
from tacit.records.swapping.swap_households import SwapHouseholds as SwapHouseholds
from tacit.records.swapping.swap_records import SwapRecords as SwapRecords
from tacit.records.synthesis.add_tuples import AddTuples as AddTuples
from tacit.records.synthesis.impute import Impute as Impute
from tacit.records.synthesis.ipso import Ipso as Ipso
from tacit.records.synthesis.latin_hypercube import LatinHypercube as LatinHypercube
from tacit.records.synthesis.risk.design_risk import DesignRisk as DesignRisk
from tacit.records.synthesis.risk.inference import Inference as Inference
from tacit.records.synthesis.risk.linkability import Linkability as Linkability
from tacit.records.synthesis.risk.singling import Singling as Singling
from tacit.records.synthesis.risk.synthetic_risk import SyntheticRisk as SyntheticRisk
from tacit.records.synthesis.sample import Sample as Sample
from tacit.records.synthesis.simulate_bounded import SimulateBounded as SimulateBounded
from tacit.records.synthesis.synthesise import Synthesise as Synthesise
from tacit.records.synthesis.synthetic_estimates import SyntheticEstimates as SyntheticEstimates
from tacit.records.synthesis.train_on_synthetic import TrainOnSynthetic as TrainOnSynthetic
from tacit.records.utility.correlation_change import CorrelationChange as CorrelationChange
from tacit.records.utility.decile_change import DecileChange as DecileChange
from tacit.records.utility.distance_table import DistanceTable as DistanceTable
from tacit.records.utility.information_loss import InformationLoss as InformationLoss
from tacit.records.utility.kullback_leibler import KullbackLeibler as KullbackLeibler
from tacit.records.utility.margin_change import MarginChange as MarginChange
from tacit.records.utility.models.analytic_validity import AnalyticValidity as AnalyticValidity
from tacit.records.utility.models.estimate_change import EstimateChange as EstimateChange
from tacit.records.utility.models.estimate_precision import EstimatePrecision as EstimatePrecision
from tacit.records.utility.models.regression_change import RegressionChange as RegressionChange
from tacit.records.utility.models.simex import Simex as Simex
from tacit.records.utility.moment_change import MomentChange as MomentChange
from tacit.records.utility.propensity import Propensity as Propensity
from tacit.records.values.cell_spread import CellSpread as CellSpread
from tacit.records.values.index_disclosure import IndexDisclosure as IndexDisclosure
from tacit.records.values.interval_disclosure import IntervalDisclosure as IntervalDisclosure
from tacit.records.values.robust_disclosure import RobustDisclosure as RobustDisclosure
from tacit.records.values.value_disclosure import ValueDisclosure as ValueDisclosure
from tacit.registry import register as register
from tacit.release.plots import release_plots as release_plots
from tacit.release.release import Release as Release
from tacit.release.verification import verify as verify
from tacit.result import Result as Result
from tacit.reveal import show_values as show_values
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
from tacit.tables.compare.table_loss import TableLoss as TableLoss
from tacit.tables.margins.entry_uniqueness import EntryUniqueness as EntryUniqueness
from tacit.tables.margins.margin_disclosure import MarginDisclosure as MarginDisclosure
from tacit.tables.noise.cell_key import CellKey as CellKey
from tacit.tables.noise.noise_protection import NoiseProtection as NoiseProtection
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
    "profile",
    "starting_plan",
    "preset_plan",
    "preset_notes",
    "get_engine",
    "Event",
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
