import { z } from 'zod';
import { plainLines } from '../../answers/plain-quotation.js';
import type { Answer, ThreadAnswers } from '../../answers/thread-answers.js';
import type { Written } from '../../calls/code-host.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import type { Thread } from '../../intent.js';
import { fields, id, list, maybe, moment, name, text } from '../../reading/fields.js';
import { moveTicket } from './transitions.js';

const PROPERTY = 'slipway.answer';
const PAGE = 100;

const written = fields({ id });
const comments = fields({
  comments: list(
    fields({
      id,
      created: moment,
      properties: list(fields({ key: maybe(name), value: maybe(fields({ marker: maybe(text) })) })),
    }),
  ),
});
const Place = z.object({ issue: z.string().min(1), key: z.string().min(1) });

/**
 * Jira Cloud takes documents, Data Center wiki markup. The API of Cloud is at a site, or at Atlassian's own address for
 * tokens of OAuth.
 */
export const isCloud = (baseUrl: string): boolean =>
  /(^|\.)atlassian\.net$|^api\.atlassian\.com$/.test(new URL(baseUrl).hostname);

/** @param client for `/rest/api/3` of Cloud, `/rest/api/2` of Data Center. */
export function jiraAnswers(client: ProviderClient, baseUrl: string): ThreadAnswers {
  const body = isCloud(baseUrl) ? documentOf : wikiOf;
  const issueOf = (place: Thread['place']): string => `/issue/${encodeURIComponent(Place.parse(place).issue)}`;
  const at = (place: Thread['place']): string => `${issueOf(place)}/comment`;
  const noted = (place: Thread['place'], commentId: string): Written => ({
    id: commentId,
    url: `${baseUrl}/browse/${encodeURIComponent(Place.parse(place).key)}?focusedCommentId=${encodeURIComponent(commentId)}`,
  });
  return {
    // Comments of Jira take no reactions: the progress comment shows that it was seen.
    acknowledge: () => Promise.resolve(),
    post: async (place, answer) => {
      const properties = [{ key: PROPERTY, value: { marker: answer.marker } }];
      return noted(
        place,
        (
          await client.call({
            method: 'POST',
            path: at(place),
            body: { body: body(answer), properties },
            answer: written,
          })
        ).body.id,
      );
    },
    update: async (place, commentId, answer) => {
      await client.call({
        method: 'PUT',
        path: `${at(place)}/${encodeURIComponent(commentId)}`,
        body: { body: body(answer) },
        answer: written,
      });
      return noted(place, commentId);
    },
    find: async (place, marker, since) => {
      const path = `${at(place)}?expand=properties&orderBy=-created&maxResults=${PAGE}`;
      const { body: page } = await client.call({ method: 'GET', path, answer: comments });
      const found = page.comments.findLast(
        ({ created, properties }) =>
          created !== null &&
          Date.parse(created) >= since.getTime() &&
          properties.some(({ key, value }) => key === PROPERTY && value?.marker === marker),
      );
      return found === undefined ? null : noted(place, found.id);
    },
    link: async (place, { key, label, url, resolved }) => {
      const object = { url, title: label, status: { resolved } };
      const body = {
        globalId: `slipway:${key}`,
        application: { type: 'slipway', name: 'Slipway' },
        relationship: 'Slipway',
        object,
      };
      // One of the same global id is updated.
      await client.call({ method: 'POST', path: `${issueOf(place)}/remotelink`, body, answer: z.unknown() });
    },
    move: (place, stage) => moveTicket(client, issueOf(place), stage),
  };
}

const paragraph = (content: readonly object[]): object => ({ type: 'paragraph', content });
const words = (line: string): object[] => (line === '' ? [] : [{ type: 'text', text: line }]);

/** In Atlassian's format. A text of it is nothing but text: no mention, no card. */
function documentOf({ headline, said, links }: Answer): object {
  const quoted =
    said === null ? [] : [{ type: 'blockquote', content: plainLines(said).map((line) => paragraph(words(line))) }];
  const linked = links.map(({ label, url }) => ({
    type: 'text',
    text: label,
    marks: [{ type: 'link', attrs: { href: url } }],
  }));
  const last = linked.flatMap((link, index) => (index === 0 ? [link] : [{ type: 'text', text: ' · ' }, link]));
  return {
    version: 1,
    type: 'doc',
    content: [paragraph(words(headline)), ...quoted, ...(last.length === 0 ? [] : [paragraph(last)])],
  };
}

function wikiOf({ headline, said, links }: Answer): string {
  // What is said stands where no markup is read, and cannot end it.
  const quoted =
    said === null
      ? ''
      : `{noformat}\n${plainLines(said)
          .join('\n')
          .replace(/\{(?=noformat)/gi, '{\u2060')}\n{noformat}`;
  const linked = links.map(({ label, url }) => `[${label.replace(/[[\]|{}]/g, ' ')}|${url}]`).join(' · ');
  return [headline, quoted, linked].filter((part) => part !== '').join('\n\n');
}
