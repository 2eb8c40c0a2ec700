/** What kind of failure a code is: the docs page, the SDK's union and `problem+json` are all made from this table. */
export interface ErrorRow {
  readonly status: number;
  readonly title: string;
  /** `later`: the same request may succeed if repeated. `never`: change something first. */
  readonly retry: 'never' | 'later';
  /** What a user does about it, in one sentence. */
  readonly nextStep: string;
}
