import { z } from 'zod';
import type { HookDeliveries } from '../../apps/app-access.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { fields, id, maybe, title } from '../../reading/fields.js';
import { part, project } from './paths.js';

const PAGE = 100;

const event = fields({
  id,
  trigger: title,
  response_status: z.union([z.string(), z.number()]).nullish().transform(String),
  request_headers: maybe(z.record(z.string(), z.unknown())),
  created_at: z.iso.datetime({ offset: true }).nullish().catch(null),
});

/** What GitLab keeps for two days of a webhook's deliveries, each of its attempts by itself. */
export function gitlabHookDeliveries(
  client: ProviderClient,
  hook: { readonly repository: string; readonly id: string },
): HookDeliveries {
  const below = `${project(hook.repository)}/hooks/${part(hook.id)}/events`;
  return {
    list: async (cursor) => {
      const page = cursor !== null && /^[1-9]\d{0,4}$/.test(cursor) ? Number(cursor) : 1;
      const { body, headers } = await client.call({
        method: 'GET',
        path: `${below}?per_page=${PAGE}&page=${page}`,
        answer: z.array(event).max(PAGE),
      });
      const asked = new Date(headers.get('date') ?? Number.NaN);
      const items = body.flatMap((each) => {
        const deliveryId =
          headerOf(each.request_headers, 'webhook-id') ?? headerOf(each.request_headers, 'idempotency-key');
        const at = momentOf(each) ?? asked;
        // An older GitLab names no delivery: a repeated delivery could not be recognized.
        if (deliveryId === null || Number.isNaN(at.getTime())) return [];
        return [
          {
            id: each.id,
            deliveryId,
            at,
            succeeded: /^2\d\d$/.test(each.response_status),
            event: each.trigger,
            installationId: null,
          },
        ];
      });
      return { items, next: body.length < PAGE ? null : String(page + 1) };
    },
    redeliver: async (attempt) => {
      await client.call({ method: 'POST', path: `${below}/${part(attempt)}/resend`, answer: z.unknown() });
    },
  };
}

/** The event says when it was, or the time that its signature has. */
function momentOf({ created_at, request_headers }: z.output<typeof event>): Date | null {
  if (created_at !== null && created_at !== undefined) return new Date(created_at);
  const signed = headerOf(request_headers, 'webhook-timestamp');
  return signed !== null && /^\d{1,12}$/.test(signed) ? new Date(Number(signed) * 1000) : null;
}

/** GitLab writes the names of headers in its own way. */
function headerOf(headers: Readonly<Record<string, unknown>> | null, name: string): string | null {
  const [, value] = Object.entries(headers ?? {}).find(([each]) => each.toLowerCase() === name) ?? [];
  return typeof value === 'string' && value.length > 0 && value.length <= 200 ? value : null;
}
