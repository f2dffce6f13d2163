/*! What is known of QuestDB's functions. */

/** By the type of the result: a type, `argument` for that of the first argument, or `unknown`. */
const AGGREGATES = {
  argument: 'min max first last first_not_null last_not_null mode arg_min arg_max any_value',
  BOOLEAN: 'isordered',
  INT: 'regr_count',
  LONG: 'count count_distinct approx_count_distinct',
  DOUBLE:
    'avg stddev stddev_samp stddev_pop var_samp variance var_pop covar_pop covar_samp corr nsum ksum approx_percentile approx_median ' +
    'vwap twap haversine_dist_deg regr_slope regr_intercept regr_r2 weighted_avg weighted_stddev',
  STRING: 'string_agg string_distinct_agg',
  'DOUBLE[]': 'array_agg',
  unknown:
    'sum bool_and bool_or bit_and bit_or bit_xor sparkline count_nulls geomean sum_of_squares weighted_stddev_freq ' +
    'weighted_stddev_rel',
};

/** `array_elem_min` and its like are in no list: whether they are aggregates depends on their arguments (observed on 9.3.4). */
const OTHER_FUNCTIONS = {
  argument:
    'first_value last_value nth_value lag lead coalesce nullif abs round round_up round_down round_half_even floor ceil ceiling ' +
    'greatest least ema',
  BOOLEAN: 'rnd_boolean starts_with ends_with touch',
  BYTE: 'rnd_byte',
  SHORT: 'rnd_short',
  CHAR: 'rnd_char left_char',
  INT:
    'rnd_int length strpos position year month day hour minute second millis micros nanos week week_of_year day_of_week ' +
    'day_of_week_sunday_first days_in_month quarter sign json_int array_position dim_length insertion_point length_bytes iso_year ' +
    'isodow doy dow decade century millennium',
  LONG: 'rnd_long row_number rank dense_rank ntile datediff hash to_long epoch memory_kb txn',
  FLOAT: 'rnd_float',
  DOUBLE:
    'rnd_double sqrt exp ln log log10 log2 power pow sin cos tan asin acos atan atan2 cot degrees radians pi spread_bps mid spread ' +
    'l2price wmid array_sum array_avg array_count array_max array_min geo_distance_meters random',
  DATE: 'rnd_date to_date sysdate pg_postmaster_start_time',
  TIMESTAMP:
    'timestamp_sequence to_timestamp now systimestamp rnd_timestamp timestamp_floor timestamp_ceil timestamp_shuffle date_trunc ' +
    'dateadd to_utc to_timezone current_timestamp',
  TIMESTAMP_NS: 'timestamp_sequence_ns rnd_timestamp_ns systimestamp_ns now_ns to_timestamp_ns',
  UUID: 'rnd_uuid4 to_uuid',
  LONG256: 'rnd_long256 to_long256',
  IPv4: 'rnd_ipv4 netmask broadcast',
  BINARY: 'rnd_bin',
  SYMBOL: 'rnd_symbol rnd_symbol_zipf rnd_symbol_weighted',
  STRING:
    'rnd_str concat to_str to_lowercase to_uppercase lower upper substring left right trim ltrim rtrim replace regexp_replace ' +
    'split_part lpad rpad size_pretty typeof version build current_user user to_char quote_ident reverse initcap',
  VARCHAR: 'rnd_varchar json_extract',
  'DOUBLE[]': 'rnd_double_array shift array_cum_sum array_sort',
  unknown:
    'array_build array_reverse array_stddev array_stddev_pop array_stddev_samp base64 dot_product extract flatten from_base64 ' +
    'geo_within_radius_latlon glob interval_end interval_start is_leap_year make_geohash matmul md5 percent_rank rnd_decimal ' +
    'rnd_geohash rnd_interval rnd_log session_user sha1 sha256 to_long128 to_pg_date today tomorrow transpose within_box ' +
    'within_radius yesterday',
};

const KNOWN_FUNCTIONS = new Map(
  [AGGREGATES, OTHER_FUNCTIONS].flatMap(list =>
    Object.entries(list).flatMap(([result, names]) => {
      const hasTypeOfArgument = result === 'argument';
      const type = hasTypeOfArgument || result === 'unknown' ? undefined : result;
      const known = { type, hasTypeOfArgument, isAggregate: list === AGGREGATES };
      return names.split(' ').map(name => [name, known] as const);
    }),
  ),
);

/** Finds a function by its name in any case; undefined if it is not known. An aggregate computes one value of many rows. */
export const findFunction = (name: string) => KNOWN_FUNCTIONS.get(name.toLowerCase());
