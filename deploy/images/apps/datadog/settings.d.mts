/** A span as an exporter gets it. */
export interface SentSpan {
  readonly meta: Record<string, string>;
  readonly metrics?: Readonly<Record<string, number>>;
  span_events?: unknown;
}
export interface SamplingRule {
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly sample_rate: number;
  readonly discard?: boolean;
}
export function samplingRules(sampleRate: number, keepsFailures: boolean): readonly SamplingRule[];
export function rateOfPath(path: string, sampleRate: number): number;
export function applySettings(env: Record<string, string | undefined>): {
  readonly sampleRate: number;
  readonly keepsFailures: boolean;
};
export function isRequestSampled(
  headers: Readonly<Record<string, string>>,
  url: string,
  sampleRate: number,
  random?: () => number,
): boolean;
export function isKept(spans: readonly Pick<SentSpan, 'metrics'>[]): boolean;
export function maskSpans(spans: readonly SentSpan[]): void;
export function decideAtTheEdge(
  headers: Record<string, string | string[] | undefined>,
  url: string,
  sampleRate: number,
  random?: () => number,
): void;
