import { ORG_HEADER, RuntimeFleet, RuntimeQueue } from '@slipway/contracts';
import { makeTraceparent } from '@slipway/telemetry';
import type { z } from 'zod';

/** Longest wait: somebody looks at a screen. Milliseconds. */
const TIMEOUT_MS = 3_000;

/** What runtime-api tells of one organization's sandboxes. Every failure, of whichever kind, rejects: the caller shows what it knows itself. */
export class RuntimeApiClient {
  constructor(private readonly options: { readonly url: string; readonly apiKey: string }) {}

  fleet(orgId: string): Promise<RuntimeFleet> {
    return this.get('fleet', orgId, RuntimeFleet);
  }

  queue(orgId: string): Promise<RuntimeQueue> {
    return this.get('queue', orgId, RuntimeQueue);
  }

  private async get<T extends z.ZodType>(path: string, orgId: string, schema: T): Promise<z.output<T>> {
    const response = await fetch(new URL(path, `${this.options.url.replace(/\/+$/, '')}/`), {
      headers: { 'x-api-key': this.options.apiKey, [ORG_HEADER]: orgId, traceparent: makeTraceparent() },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`runtime-api answered ${response.status}`);
    }
    return schema.parse(await response.json());
  }
}
