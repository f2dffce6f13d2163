/*! What is known of QuestDB's functions. The result type of a function that is not listed here is unknown. */
import { isAggregate } from '@sqlpipe/ddl';
import { childrenOf, type TreeNode } from '../parse/parse-query.js';

const wordsOf = (text: string): string[] => text.toLowerCase().split(' ');

const NAMES_BY_TYPE: Readonly<Record<string, string>> = {
  BOOLEAN: 'rnd_boolean starts_with ends_with isOrdered touch',
  BYTE: 'rnd_byte',
  SHORT: 'rnd_short',
  CHAR: 'rnd_char left_char',
  INT:
    'rnd_int length strpos position year month day hour minute second millis micros nanos week week_of_year ' +
    'day_of_week day_of_week_sunday_first days_in_month quarter sign regr_count json_int array_position dim_length ' +
    'insertion_point length_bytes iso_year isodow doy dow decade century millennium',
  LONG:
    'rnd_long count count_distinct approx_count_distinct row_number rank dense_rank ntile datediff hash to_long ' +
    'epoch memory_kb txn',
  FLOAT: 'rnd_float',
  DOUBLE:
    'rnd_double avg stddev stddev_samp stddev_pop var_samp variance var_pop covar_pop covar_samp corr nsum ksum ' +
    'approx_percentile approx_median vwap twap haversine_dist_deg regr_slope regr_intercept regr_r2 weighted_avg ' +
    'weighted_stddev sqrt exp ln log log10 log2 power pow sin cos tan asin acos atan atan2 cot degrees radians pi ' +
    'spread_bps mid spread l2price wmid array_sum array_avg array_count array_max array_min geo_distance_meters random',
  DATE: 'rnd_date to_date sysdate pg_postmaster_start_time',
  TIMESTAMP:
    'timestamp_sequence to_timestamp now systimestamp rnd_timestamp timestamp_floor timestamp_ceil timestamp_shuffle ' +
    'date_trunc dateadd to_utc to_timezone current_timestamp',
  TIMESTAMP_NS: 'timestamp_sequence_ns rnd_timestamp_ns systimestamp_ns now_ns to_timestamp_ns',
  UUID: 'rnd_uuid4 to_uuid',
  LONG256: 'rnd_long256 to_long256',
  IPv4: 'rnd_ipv4 netmask broadcast',
  BINARY: 'rnd_bin',
  SYMBOL: 'rnd_symbol rnd_symbol_zipf rnd_symbol_weighted',
  STRING:
    'rnd_str concat string_agg to_str to_lowercase to_uppercase lower upper substring left right trim ltrim rtrim ' +
    'replace regexp_replace split_part lpad rpad size_pretty typeof version build current_user user to_char ' +
    'string_distinct_agg quote_ident reverse initcap',
  VARCHAR: 'rnd_varchar json_extract',
  'DOUBLE[]': 'rnd_double_array array_agg shift array_cum_sum array_sort',
};

const TYPES_BY_NAME = new Map(
  Object.entries(NAMES_BY_TYPE).flatMap(([type, names]) => wordsOf(names).map(name => [name, type])),
);

const TYPED_BY_ARGUMENT = new Set(
  wordsOf(
    'min max first last first_not_null last_not_null first_value last_value nth_value lag lead mode coalesce nullif ' +
      'abs round round_up round_down round_half_even floor ceil ceiling arg_min arg_max greatest least ema any_value',
  ),
);

const NON_DETERMINISTIC = new Set(
  wordsOf('now now_ns today tomorrow yesterday sysdate systimestamp systimestamp_ns current_timestamp'),
);

/** QuestDB rejects such functions in materialized and live views. */
export const isNonDeterministic = (name: string): boolean =>
  NON_DETERMINISTIC.has(name.toLowerCase()) || name.toLowerCase().startsWith('rnd_');

export function inferFunctionType(name: string, argumentTypes: readonly (string | undefined)[]): string | undefined {
  const key = name.toLowerCase();
  const [first, ...others] = argumentTypes;
  // With several arguments, the digits of a DECIMAL result depend on all of them.
  if (argumentTypes.some(isDecimal))
    return TYPED_BY_ARGUMENT.has(key) && others.length === 0 ? first : key.startsWith('count') ? 'LONG' : undefined;
  if (key === 'sum' && ['BYTE', 'SHORT', 'INT'].includes(first ?? '')) return 'LONG';
  if (key === 'sum') return ['LONG', 'LONG256', 'FLOAT', 'DOUBLE'].find(type => type === first);
  // observed on 9.3.4
  if (first === 'SYMBOL' && ['min', 'max', 'coalesce', 'nullif'].includes(key)) return 'STRING';
  return TYPED_BY_ARGUMENT.has(key) ? first : TYPES_BY_NAME.get(key);
}

export const isDecimal = (type: string | undefined): boolean => type?.startsWith('DECIMAL') ?? false;

/** Calls in subqueries and with OVER do not count. */
export function hasAggregate(node: TreeNode): boolean {
  const { type, name, over } = node as { type?: string; name?: string; over?: unknown };
  if (type === 'subquery') return false;
  if (type === 'function' && typeof name === 'string' && isAggregate(name) && !over) return true;
  return childrenOf(node).some(hasAggregate);
}
