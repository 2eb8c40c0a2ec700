/**
 * How many blank sandboxes a pool should hold, from the arrivals that it has seen.
 *
 * target = λL + z·sqrt(φ·λ·L) + burst reserve, within [min, max]: λ is the largest of what arrives now (10 s average),
 * what arrived at this hour of the week before, and what was announced; L the time in which a missing sandbox is made;
 * φ how much more arrivals vary than independent ones would (variance ÷ mean of the arrivals in L). The reserve is at
 * most what comes in an hour at that rate: a quiet night keeps little of it. Up at once; down only to the largest
 * target of the last ten minutes, so that a lull does not throw away what the next minute needs.
 *
 * A state is plain data and may be stored as JSON: a replica that takes the pool over goes on with it. Without it the
 * first ten minutes and the first week are less well known, nothing else.
 */

export interface ForecastOptions {
  readonly min: number;
  readonly max: number;
  /**
   * Kept beyond what the averages ask for, for arrivals that come together: as many as come within one lead. All of it
   * in hours that were never measured.
   */
  readonly burstReserve: number;
  /** Announced arrivals: a launch, a nightly build. */
  readonly announced?: readonly AnnouncedRate[];
}

/** Seconds since 1970 UTC, arrivals a second. */
export interface AnnouncedRate {
  readonly from: number;
  readonly until: number;
  readonly perSecond: number;
}

export interface ArrivalCount {
  /**
   * End of the interval. Seconds since 1970 UTC, by the database's clock. An interval that ends before the last one
   * counts as ending with it.
   */
  readonly at: number;
  /** Length of the interval; above 0. A second is best, a minute will do. */
  readonly seconds: number;
  readonly arrivals: number;
}

export interface ForecastState {
  readonly at: number;
  /** Arrivals a second, averaged over about ten seconds. */
  readonly recent: number;
  /**
   * Arrivals a second in each hour of the week (Thursday 0 h UTC is the first, as 1970 began); `null` where never
   * measured.
   */
  readonly hours: readonly (number | null)[];
  /** The hour that is being measured. */
  readonly hour: { readonly index: number; readonly arrivals: number; readonly seconds: number };
  /** The stretch that is being counted: of one lead, or of one interval when that is longer. */
  readonly stretch: { readonly arrivals: number; readonly seconds: number };
  /** Mean and variance of the arrivals in a stretch, over about an hour. */
  readonly mean: number;
  readonly variance: number;
  /** Time that the two are known for. Seconds. */
  readonly watched: number;
  /** Targets of the last ten minutes that no later one has reached: oldest and largest first. */
  readonly peaks: readonly { readonly at: number; readonly target: number }[];
}

export interface Forecast {
  readonly state: ForecastState;
  readonly target: number;
  /** λ: expected arrivals a second. */
  readonly perSecond: number;
}

const HOURS_OF_WEEK = 168;
const HOUR_SECONDS = 3_600;
const RECENT_SECONDS = 10;
/** An average that has faded below this is none: one arrival an hour. */
const LEAST_RATE = 1 / HOUR_SECONDS;
/** An hour must have been watched this long to be believed. Seconds. */
const MEASURED_SECONDS = 1_800;
/** How much of an hour's new measurement goes into its average of the weeks. */
const NEW_WEEK = 0.3;
/** Time over which the variance is averaged. Seconds. */
const VARIANCE_SECONDS = 3_600;
/** Normal quantile of one miss in a thousand. */
const Z = 3.1;
/** Time for which a target is kept. Seconds. */
const HOLD_SECONDS = 600;

export const NO_FORECAST: ForecastState = {
  at: 0,
  recent: 0,
  hours: Array.from({ length: HOURS_OF_WEEK }, () => null),
  hour: { index: -1, arrivals: 0, seconds: 0 },
  stretch: { arrivals: 0, seconds: 0 },
  mean: 0,
  variance: 0,
  watched: 0,
  peaks: [],
};

/**
 * The target after one more interval of arrivals. From the same state, more arrivals, a longer lead or a larger reserve
 * never give a smaller target.
 * @param leadSeconds measured time from the intent of a sandbox until it is ready. Its mean is enough where leads are
 * independent of each other
 *   (how many are being made at once depends on nothing else of them); its p99 also covers a cluster that is slow as a
 *   whole, and costs 1.1 to 2 times as many idle sandboxes (bench/pool-simulation.ts).
 * @throws RangeError for an interval without length, or a negative or unmeasured number.
 */
export function forecast(
  state: ForecastState,
  count: ArrivalCount,
  leadSeconds: number,
  options: ForecastOptions,
): Forecast {
  if (!(count.seconds > 0 && count.arrivals >= 0 && leadSeconds >= 0))
    throw new RangeError(`${count.arrivals} arrivals in ${count.seconds} s, lead ${leadSeconds} s`);
  const at = Math.max(count.at, state.at);
  const rate = count.arrivals / count.seconds;
  const average = rate + (state.recent - rate) * Math.exp(-count.seconds / RECENT_SECONDS);
  const recent = average < LEAST_RATE ? 0 : average;
  const { hour, hours } = withHour(state, at, count);
  const soon = at + leadSeconds;
  const announced = (options.announced ?? []).filter((each) => each.from <= soon && at < each.until);
  const perSecond = Math.max(
    recent,
    hours[hourOfWeek(at)] ?? 0,
    hours[hourOfWeek(soon)] ?? 0,
    ...announced.map((each) => each.perSecond),
  );
  // The previous dispersion: an arrival that makes the past look more even must not make the pool smaller.
  const isKnown = hours[hourOfWeek(soon)] !== null;
  const reserve = isKnown ? Math.min(options.burstReserve, perSecond * HOUR_SECONDS) : options.burstReserve;
  const wanted = Math.ceil(sizeFor(perSecond, leadSeconds, dispersionOf(state)) + reserve);
  const bounded = Math.min(options.max, Math.max(options.min, wanted));
  const peaks = [
    ...state.peaks.filter((peak) => peak.at > at - HOLD_SECONDS && peak.target > bounded),
    { at, target: bounded },
  ];
  // Bounds may have been changed since a peak.
  const target = Math.min(options.max, Math.max(options.min, peaks[0]?.target ?? bounded));
  return { state: { at, recent, hours, hour, ...withStretch(state, count, leadSeconds), peaks }, target, perSecond };
}

/** λL + z·sqrt(φ·λ·L): enough for all but one in a thousand of the arrivals in one lead. */
export function sizeFor(perSecond: number, leadSeconds: number, dispersion: number): number {
  const expected = perSecond * leadSeconds;
  return expected + Z * Math.sqrt(dispersion * expected);
}

/** φ, at least 1: arrivals more even than independent ones are luck. */
export function dispersionOf(state: Pick<ForecastState, 'mean' | 'variance'>): number {
  return state.mean > 0 ? Math.max(1, state.variance / state.mean) : 1;
}

export function hourOfWeek(at: number): number {
  return Math.floor(at / HOUR_SECONDS) % HOURS_OF_WEEK;
}

/**
 * Adds to the hour that is being measured. When another begins, the one before enters the average of its place in the
 * week.
 */
function withHour(state: ForecastState, at: number, count: ArrivalCount): Pick<ForecastState, 'hour' | 'hours'> {
  const index = hourOfWeek(at);
  if (index === state.hour.index) {
    const hour = { index, arrivals: state.hour.arrivals + count.arrivals, seconds: state.hour.seconds + count.seconds };
    return { hour, hours: state.hours };
  }
  const hour = { index, arrivals: count.arrivals, seconds: count.seconds };
  if (state.hour.seconds < MEASURED_SECONDS) return { hour, hours: state.hours };
  const measured = state.hour.arrivals / state.hour.seconds;
  const before = state.hours[state.hour.index] ?? measured;
  return { hour, hours: state.hours.with(state.hour.index, before + NEW_WEEK * (measured - before)) };
}

/**
 * Counts arrivals in stretches of one lead, and averages their mean and variance. What is asked of the two is their
 * ratio, which depends little on the stretch.
 */
function withStretch(
  state: ForecastState,
  count: ArrivalCount,
  leadSeconds: number,
): Pick<ForecastState, 'stretch' | 'mean' | 'variance' | 'watched'> {
  const { mean, variance } = state;
  const arrivals = state.stretch.arrivals + count.arrivals;
  const seconds = state.stretch.seconds + count.seconds;
  if (seconds < leadSeconds) return { stretch: { arrivals, seconds }, mean, variance, watched: state.watched };
  const watched = Math.min(VARIANCE_SECONDS, state.watched + seconds);
  // At first all samples weigh the same; a mean that began at nothing would look like a variance.
  const share = Math.min(1, seconds / watched);
  const off = arrivals - mean;
  return {
    stretch: { arrivals: 0, seconds: 0 },
    mean: mean + share * off,
    variance: (1 - share) * (variance + share * off * off),
    watched,
  };
}
