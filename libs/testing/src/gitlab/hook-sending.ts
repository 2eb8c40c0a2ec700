import { createHmac, randomUUID } from 'node:crypto';
import type { GitLabHook, GitLabHookEvent, GitLabProject } from './model.js';

const TRIGGERS: Readonly<Record<string, { readonly flag: string; readonly event: string }>> = {
  issue: { flag: 'issues_events', event: 'Issue Hook' },
  note: { flag: 'note_events', event: 'Note Hook' },
  merge_request: { flag: 'merge_requests_events', event: 'Merge Request Hook' },
  pipeline: { flag: 'pipeline_events', event: 'Pipeline Hook' },
};
/** After so many failures in a row GitLab switches a webhook off for good. */
const MAX_FAILURES = 40;
const TIMEOUT_MS = 10_000;

/** Sends webhooks as GitLab does: signed where they have a signing token, with a log of what came of each. */
export class HookSending {
  private readonly underWay = new Set<Promise<unknown>>();
  private count = 0;

  /** To every webhook of the project that wants it. */
  send(project: GitLabProject, body: object, confidential = false): void {
    const { object_kind: kind } = body as { object_kind: string };
    const trigger = TRIGGERS[kind];
    if (trigger === undefined) return;
    const flag = confidential ? `confidential_${trigger.flag}` : trigger.flag;
    for (const hook of project.hooks)
      if (hook.events[flag] === true && hook.alertStatus === 'executable')
        this.track(
          this.deliver(hook, { key: randomUUID(), trigger: flag, event: trigger.event, body: JSON.stringify(body) }),
        );
  }

  /** @returns the status of the answer. */
  async resend(hook: GitLabHook, { key, trigger, event, body }: GitLabHookEvent): Promise<string> {
    return this.deliver(hook, { key, trigger, event, body });
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }

  private track(sent: Promise<unknown>): void {
    const done = sent.catch(() => {}).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
  }

  private async deliver(
    hook: GitLabHook,
    sent: Pick<GitLabHookEvent, 'key' | 'trigger' | 'event' | 'body'>,
  ): Promise<string> {
    const { url, token, signingToken } = hook;
    const at = String(Math.floor(Date.now() / 1000));
    const signature =
      signingToken === null
        ? {}
        : {
            'webhook-signature': `v1,${createHmac('sha256', Buffer.from(signingToken.slice('whsec_'.length), 'base64'))
              .update(`${sent.key}.${at}.${sent.body}`)
              .digest('base64')}`,
          };
    const headers = {
      'content-type': 'application/json',
      'x-gitlab-event': sent.event,
      'x-gitlab-event-uuid': randomUUID(),
      'idempotency-key': sent.key,
      'webhook-id': sent.key,
      'webhook-timestamp': at,
      ...(token === null ? {} : { 'x-gitlab-token': token }),
      ...signature,
    };
    const responseStatus = await fetch(url, {
      method: 'POST',
      headers,
      body: sent.body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).then(
      ({ status }) => String(status),
      () => 'internal error',
    );
    this.count += 1;
    hook.sent.unshift({ id: this.count, at, ...sent, responseStatus });
    const isWell = /^2\d\d$/.test(responseStatus);
    hook.failures = isWell ? 0 : hook.failures + 1;
    hook.alertStatus = isWell ? 'executable' : hook.failures >= MAX_FAILURES ? 'disabled' : hook.alertStatus;
    return responseStatus;
  }
}
