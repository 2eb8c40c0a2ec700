import {
  FlagNotFoundError,
  type JsonValue,
  type Provider,
  type ResolutionDetails,
  StandardResolutionReasons,
  TypeMismatchError,
} from '@openfeature/server-sdk';

/** Every flag of ours is a string with a few values. */
export abstract class StringFlags implements Provider {
  abstract readonly metadata: { readonly name: string };
  abstract resolveStringEvaluation(
    key: string,
    fallback: string,
    context: Parameters<Provider['resolveStringEvaluation']>[2],
  ): Promise<ResolutionDetails<string>>;

  resolveBooleanEvaluation(): Promise<ResolutionDetails<boolean>> {
    return refused();
  }

  resolveNumberEvaluation(): Promise<ResolutionDetails<number>> {
    return refused();
  }

  resolveObjectEvaluation<T extends JsonValue>(): Promise<ResolutionDetails<T>> {
    return refused();
  }
}

/** Values of the configuration, the same for all users. */
export class StaticFlags extends StringFlags {
  readonly metadata = { name: 'static' } as const;

  constructor(private readonly values: Readonly<Record<string, string>>) {
    super();
  }

  async resolveStringEvaluation(key: string): Promise<ResolutionDetails<string>> {
    const value = this.values[key];
    if (value === undefined) throw new FlagNotFoundError(key);
    return { value, reason: StandardResolutionReasons.STATIC };
  }
}

async function refused(): Promise<never> {
  throw new TypeMismatchError('flags are strings');
}
