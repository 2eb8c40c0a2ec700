import type { GitLabHook } from './model.js';
import { missing, type ProjectCall, pageOf, type Route, type RouteAnswer } from './route.js';

/** Of a signing token: base64 of exactly 32 bytes. */
const SIGNING_TOKEN = /^whsec_[A-Za-z0-9+/]{43}=$/;

const shown = ({ gitlab }: ProjectCall, { id, url, token, signingToken, events, alertStatus }: GitLabHook): object => ({
  ...{ id, url, ...events, token_present: token !== null, alert_status: alertStatus, disabled_until: null },
  ...(gitlab.signsWebhooks ? { signing_token_present: signingToken !== null } : {}),
});

const of =
  (answer: (call: ProjectCall, hook: GitLabHook) => RouteAnswer | Promise<RouteAnswer>): Route['answer'] =>
  (call) => {
    const hook = call.project.hooks.find((each) => String(each.id) === call.parts[0]);
    return hook === undefined ? missing('Project hook') : answer(call, hook);
  };

function write({ gitlab, body }: ProjectCall, hook: GitLabHook): RouteAnswer | null {
  const { url, token, signing_token: signing, ...rest } = body;
  if (signing !== undefined && signing !== null && gitlab.signsWebhooks && !SIGNING_TOKEN.test(String(signing)))
    return [422, { message: 'Signing token is not base64 of 32 bytes' }];
  if (url !== undefined) hook.url = String(url);
  if (token !== undefined) hook.token = token === null || token === '' ? null : String(token);
  if (signing !== undefined && gitlab.signsWebhooks)
    hook.signingToken = signing === null || signing === '' ? null : String(signing);
  hook.events = {
    ...hook.events,
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => name.endsWith('_events'))),
  } as GitLabHook['events'];
  return null;
}

export const hookRoutes: readonly Route[] = [
  {
    at: 'GET /hooks',
    level: 40,
    answer: (call) => [200, pageOf(call.project.hooks, call.query).map((hook) => shown(call, hook))],
  },
  {
    at: 'POST /hooks',
    level: 40,
    answer: (call) => {
      // GitLab sends pushes by default.
      const hook: GitLabHook = {
        ...{
          id: call.gitlab.nextId(),
          url: '',
          token: null,
          signingToken: null,
          events: { push_events: true },
          alertStatus: 'executable',
          failures: 0,
          sent: [],
        },
      };
      const refusal = write(call, hook);
      if (refusal !== null) return refusal;
      call.project.hooks.push(hook);
      return [201, shown(call, hook)];
    },
  },
  { at: 'GET /hooks/*', level: 40, answer: of((call, hook) => [200, shown(call, hook)]) },
  { at: 'PUT /hooks/*', level: 40, answer: of((call, hook) => write(call, hook) ?? [200, shown(call, hook)]) },
  {
    at: 'DELETE /hooks/*',
    level: 40,
    answer: of(({ project }, hook) => {
      project.hooks.splice(project.hooks.indexOf(hook), 1);
      return [204, null];
    }),
  },
  {
    at: 'GET /hooks/*/events',
    level: 40,
    answer: of(({ query }, hook) => [
      200,
      pageOf(hook.sent, query).map(({ id, key, at, trigger, responseStatus }) => ({
        ...{
          id,
          url: hook.url,
          trigger,
          request_headers: { 'Idempotency-Key': key, 'Webhook-Id': key, 'Webhook-Timestamp': at },
          response_status: responseStatus,
        },
      })),
    ]),
  },
  {
    at: 'POST /hooks/*/events/*/resend',
    level: 40,
    answer: of(async ({ gitlab, parts: [, id] }, hook) => {
      const sent = hook.sent.find((each) => String(each.id) === id);
      return sent === undefined
        ? missing('Hook event')
        : [201, { response_status: await gitlab.sending.resend(hook, sent) }];
    }),
  },
];
