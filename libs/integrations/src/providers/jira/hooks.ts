import { z } from 'zod';
import type { AppHookState, AppHooks } from '../../app-hooks/app-hooks.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { fields, id, list, maybe, moment, name, url } from '../../reading/fields.js';
import { timeOf } from './moments.js';

/** Of `JIRA_EVENTS` those that can ask for something. */
const EVENTS = ['jira:issue_created', 'jira:issue_updated', 'comment_created'];
const DAY_MS = 86_400_000;
/** They end after 30 days, and are renewed when fewer than this are left. */
const RENEW_BEFORE_MS = 20 * DAY_MS;
const PAGE = 50;
/** Projects that one filter names; those beyond are not heard of. */
const MAX_PROJECTS = 200;

const registered = fields({ values: list(fields({ id, jqlFilter: maybe(name), url, expirationDate: moment })) });
const projects = fields({ values: list(fields({ key: name })), isLast: maybe(z.boolean()) });
const made = fields({ webhookRegistrationResult: list(fields({ createdWebhookId: maybe(id), errors: list(name) })) });
const renewed = fields({ expirationDate: moment });

/** Dynamic webhooks of Cloud: at most five of an app, a user and a site, each with a filter that names its projects. */
export async function keepJiraHooks(
  api: ProviderClient,
  { url: address, known, now }: Parameters<AppHooks['keep']>[1],
): Promise<AppHookState> {
  const { keys, more } = await projectKeys(api);
  if (keys.length === 0) return { ids: [], filter: '', expiresAt: null, problem: 'The account sees no project.' };
  const filter = `project in (${keys.map((key) => `"${key}"`).join(', ')})`;
  const problem = more ? `Only the first ${MAX_PROJECTS} projects are heard of.` : null;
  const there = (await api.call({ method: 'GET', path: '/webhook?maxResults=100', answer: registered })).body.values;
  const ours = there.filter((each) => known?.ids.includes(each.id) === true || each.url === address);
  const kept = ours.find(({ jqlFilter }) => jqlFilter === filter);
  const state = kept === undefined ? await make(api, address, filter, now) : await renew(api, kept, filter, now);
  // The new one is there before the old one goes: what both deliver is one deed.
  const others = state.ids.length === 0 ? [] : ours.filter((each) => !state.ids.includes(each.id));
  if (others.length > 0)
    await api.call({
      method: 'DELETE',
      path: '/webhook',
      body: { webhookIds: others.map((each) => Number(each.id)) },
      answer: z.unknown(),
    });
  return { ...state, problem: state.problem ?? problem };
}

async function make(api: ProviderClient, address: string, filter: string, now: Date): Promise<AppHookState> {
  const body = { url: address, webhooks: [{ events: EVENTS, jqlFilter: filter }] };
  const [result] = (await api.call({ method: 'POST', path: '/webhook', body, answer: made })).body
    .webhookRegistrationResult;
  const hookId = result?.createdWebhookId ?? null;
  if (hookId === null)
    return {
      ids: [],
      filter,
      expiresAt: null,
      problem: `Jira makes no webhook: ${(result?.errors ?? []).join(' ').slice(0, 300) || 'it gives no reason'}`,
    };
  return { ids: [hookId], filter, expiresAt: new Date(now.getTime() + 30 * DAY_MS).toISOString(), problem: null };
}

async function renew(
  api: ProviderClient,
  { id: hookId, expirationDate }: { readonly id: string; readonly expirationDate: string | null },
  filter: string,
  now: Date,
): Promise<AppHookState> {
  const ends = expirationDate === null ? Number.NaN : timeOf(expirationDate);
  if (ends - now.getTime() > RENEW_BEFORE_MS)
    return { ids: [hookId], filter, expiresAt: new Date(ends).toISOString(), problem: null };
  const { body } = await api.call({
    method: 'PUT',
    path: '/webhook/refresh',
    body: { webhookIds: [Number(hookId)] },
    answer: renewed,
  });
  const at = body.expirationDate === null ? Number.NaN : timeOf(body.expirationDate);
  return {
    ids: [hookId],
    filter,
    expiresAt: new Date(Number.isNaN(at) ? now.getTime() + 30 * DAY_MS : at).toISOString(),
    problem: null,
  };
}

async function projectKeys(api: ProviderClient): Promise<{ keys: readonly string[]; more: boolean }> {
  const keys: string[] = [];
  for (let start = 0; start < MAX_PROJECTS; start += PAGE) {
    const { body } = await api.call({
      method: 'GET',
      path: `/project/search?orderBy=key&maxResults=${PAGE}&startAt=${start}`,
      answer: projects,
    });
    keys.push(...body.values.map(({ key }) => key).filter((key) => /^\w+$/.test(key)));
    if (body.isLast !== false || body.values.length === 0) return { keys, more: false };
  }
  return { keys, more: true };
}
