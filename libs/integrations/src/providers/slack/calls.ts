import { z } from 'zod';
import { plainLines } from '../../answers/plain-quotation.js';
import type { Answer, ThreadAnswers } from '../../answers/thread-answers.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal, type RefusalKind } from '../../calls/provider-refusal.js';
import { fields, flag, list, maybe, name, text } from '../../reading/fields.js';
import { answerBlocks } from './buttons.js';
import { choiceBlocks } from './choice.js';

const METADATA = 'slipway_answer';
const PAGE = 200;

const answered = fields({ ok: flag, error: maybe(name), ts: maybe(name) });
const replies = fields({
  ok: flag,
  error: maybe(name),
  messages: list(
    fields({
      ts: name,
      metadata: maybe(fields({ event_type: maybe(name), event_payload: maybe(fields({ marker: maybe(text) })) })),
    }),
  ),
});
const Place = z.object({ channel: z.string().regex(/^\w{1,40}$/), ts: z.string().regex(/^[\d.]{1,40}$/) });

/** Slack answers 200 for its refusals. What is not listed is `invalid`. */
const KINDS: Readonly<Record<string, RefusalKind>> = {
  invalid_auth: 'credential',
  not_authed: 'credential',
  token_revoked: 'credential',
  token_expired: 'credential',
  account_inactive: 'credential',
  missing_scope: 'forbidden',
  not_in_channel: 'forbidden',
  restricted_action: 'forbidden',
  is_archived: 'forbidden',
  channel_not_found: 'missing',
  message_not_found: 'missing',
  thread_not_found: 'missing',
  internal_error: 'unavailable',
  fatal_error: 'unavailable',
  service_unavailable: 'unavailable',
  ratelimited: 'limited',
};

/** @param client of `slack.com/api`, with a bot's token. */
export function slackAnswers(client: ProviderClient): ThreadAnswers {
  const post = async (method: string, body: object): Promise<z.output<typeof answered>> =>
    heard(method, (await client.call({ method: 'POST', path: `/${method}`, body, answer: answered })).body);
  return {
    acknowledge: async (place, asked) => {
      const { channel, ts } = Place.parse(place);
      try {
        await post('reactions.add', { channel, timestamp: asked.kind === 'subject' ? ts : asked.id, name: 'eyes' });
      } catch (error) {
        if (!(error instanceof ProviderRefusal && error.message.includes('already_reacted'))) throw error;
      }
    },
    post: async (place, answer) => {
      const { channel, ts } = Place.parse(place);
      const metadata = { event_type: METADATA, event_payload: { marker: answer.marker } };
      const { ts: id } = await post('chat.postMessage', { channel, thread_ts: ts, ...shown(answer), metadata });
      if (id === null)
        throw new ProviderRefusal('chat.postMessage: no ts', {
          kind: 'unreadable',
          status: 200,
          retryAt: null,
          outcomeUnknown: true,
        });
      return { id, url: null };
    },
    update: async (place, id, answer) => {
      await post('chat.update', { channel: Place.parse(place).channel, ts: id, ...shown(answer) });
      return { id, url: null };
    },
    // Where the app has not the scope, or is no assistant of the thread, Slack refuses for good, and nothing is lost.
    status: async (place, words) => {
      const { channel, ts } = Place.parse(place);
      await post('assistant.threads.setStatus', { channel_id: channel, thread_ts: ts, status: words ?? '' });
    },
    find: async (place, marker, since) => {
      const { channel, ts } = Place.parse(place);
      const query = new URLSearchParams({
        channel,
        ts,
        limit: String(PAGE),
        include_all_metadata: 'true',
        oldest: String(since.getTime() / 1_000),
      });
      const { body } = await client.call({ method: 'GET', path: `/conversations.replies?${query}`, answer: replies });
      const found = heard('conversations.replies', body).messages.find(
        ({ metadata }) => metadata?.event_type === METADATA && metadata.event_payload?.marker === marker,
      );
      return found === undefined ? null : { id: found.ts, url: null };
    },
  };
}

/** Of Slack's three letters that mean something. */
const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function shown({ headline, said, links, choosesRepository, waits, buttons = [] }: Answer): {
  text: string;
  blocks: readonly object[];
  unfurl_links: false;
  unfurl_media: false;
} {
  const quoted = said === null ? [] : plainLines(said).map((line) => `> ${escaped(line)}`);
  const linked = links
    .map(({ label, url }) => `<${url.replace(/[<>|\s]/g, encodeURIComponent)}|${escaped(label)}>`)
    .join(' · ');
  const text = [escaped(headline), quoted.join('\n'), linked].filter((part) => part !== '').join('\n\n');
  // Without the field, those of the message before would stay.
  const blocks =
    choosesRepository === true
      ? choiceBlocks(text)
      : buttons.length > 0
        ? answerBlocks({ text, waits: waits ?? null, buttons })
        : [];
  return { text, blocks, unfurl_links: false, unfurl_media: false };
}

function heard<T extends { readonly ok: boolean; readonly error: string | null }>(method: string, body: T): T {
  if (body.ok) return body;
  const kind = KINDS[body.error ?? ''] ?? 'invalid';
  throw new ProviderRefusal(`${method}: ${body.error ?? 'refused'}`, {
    kind,
    status: 200,
    retryAt: null,
    outcomeUnknown: kind === 'unavailable',
  });
}
