import { z } from 'zod';
import type { HookDeliveries } from '../../apps/app-access.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { fields, id, maybe, name } from '../../reading/fields.js';

const PAGE = 100;

const attempt = fields({
  id,
  guid: name,
  delivered_at: z.iso.datetime({ offset: true }),
  status_code: z.number().int(),
  event: name,
  action: maybe(name),
  installation_id: maybe(id),
});

/**
 * What GitHub keeps for three days of an app's deliveries, or of a webhook's. It repeats none by itself. @param below
 * the path of the hook.
 */
export function hookDeliveries(api: ProviderClient, below: string): HookDeliveries {
  return {
    list: async (cursor) => {
      const page = new URLSearchParams({ per_page: String(PAGE), ...(cursor === null ? {} : { cursor }) });
      const { body, headers } = await api.call({
        method: 'GET',
        path: `${below}/deliveries?${page}`,
        answer: z.array(attempt).max(PAGE),
      });
      const items = body.map((each) => ({
        id: each.id,
        deliveryId: each.guid,
        at: new Date(each.delivered_at),
        succeeded: each.status_code >= 200 && each.status_code < 300,
        event: [each.event, each.action].filter(Boolean).join('.'),
        installationId: each.installation_id,
      }));
      return { items, next: cursorOf(headers.get('link')) };
    },
    redeliver: async (attemptId) => {
      await api.call({
        method: 'POST',
        path: `${below}/deliveries/${encodeURIComponent(attemptId)}/attempts`,
        answer: z.unknown(),
      });
    },
  };
}

/** The cursor of `rel="next"`; its address is not followed. */
function cursorOf(link: string | null): string | null {
  const next = /<([^>]{1,2000})>\s*;\s*rel="next"/.exec(link ?? '')?.[1];
  return next === undefined ? null : (URL.parse(next)?.searchParams.get('cursor') ?? null);
}
