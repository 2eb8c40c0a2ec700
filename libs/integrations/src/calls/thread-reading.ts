import { z } from 'zod';
import type { Passage, ReviewPlace, Thread } from '../intent.js';
import { fields, flag, id, maybe, moment, name, text, url } from '../reading/fields.js';
import { actorOf, user } from '../reading/forge.js';
import type { ProviderClient } from './provider-client.js';
import { part, repo } from './repository-path.js';

/** Something that was said in a thread after its subject. */
export interface Said {
  readonly passage: Passage;
  /** The lines of a change that it is about. */
  readonly lines: Pick<ReviewPlace, 'path' | 'line' | 'diffHunk'> | null;
}

export interface ThreadSaid {
  /** Oldest first; without line comments that are resolved, where the host says so. */
  readonly said: readonly Said[];
  /** There is more, which was not read. */
  readonly more: boolean;
}

/** Reads the other messages of a thread, as context. A few requests; throws `ProviderRefusal`. */
export interface ThreadReading {
  /** The value of `authorization` for an access token. */
  readonly authorization: (token: string) => string;
  /** Of the API of the instance whose pages are at `baseUrl`; neither ends with a slash. */
  readonly apiUrl: (baseUrl: string) => string;
  readonly read: (client: ProviderClient, thread: Thread) => Promise<ThreadSaid>;
}

/** Where line comments of a pull request are: GitHub lists them, Gitea keeps them in their reviews. */
type LinesOf = (client: ProviderClient, pull: string) => Promise<ThreadSaid>;

const PAGE = 100;
/** Of comments: what is beyond would not fit into a prompt. */
const MAX_PAGES = 3;
/** Gitea's own longest page, unless its administrator changed it. */
const REVIEW_PAGE = 50;
/** Each costs a request. */
const MAX_REVIEWS_WITH_LINES = 10;

const comment = fields({ id, body: text, html_url: url, created_at: moment, user: maybe(user) });
const number = z.number().int().positive().nullish().catch(null);
const line = fields({
  id,
  body: text,
  html_url: url,
  created_at: moment,
  user: maybe(user),
  path: name,
  line: number,
  original_line: number,
  position: number,
  original_position: number,
  diff_hunk: text,
  resolver: maybe(user),
});
const review = fields({
  id,
  body: text,
  html_url: url,
  submitted_at: moment,
  user: maybe(user),
  comments_count: number,
  stale: flag,
});

/** Of GitHub and Gitea. @throws Error for a place that another provider has made. */
export async function readForgeThread(client: ProviderClient, thread: Thread, linesOf: LinesOf): Promise<ThreadSaid> {
  const { repository, number: of } = thread.place;
  if (typeof repository !== 'string' || typeof of !== 'number') throw new Error('not a thread of a git host');
  const comments = commentsOf(client, `${repo(repository)}/issues/${of}`);
  const parts = await Promise.all([
    comments,
    ...(thread.kind === 'pull-request' ? [linesOf(client, `${repo(repository)}/pulls/${of}`)] : []),
  ]);
  return {
    said: parts.flatMap(({ said }) => said).toSorted((one, other) => timeOf(one) - timeOf(other)),
    more: parts.some(({ more }) => more),
  };
}

export const githubLines: LinesOf = async (client, pull) => {
  const [lines, reviews] = await Promise.all([
    client.call({
      method: 'GET',
      path: `${pull}/comments?sort=created&direction=desc&per_page=${PAGE}`,
      answer: z.array(line),
    }),
    client.call({ method: 'GET', path: `${pull}/reviews?per_page=${PAGE}`, answer: z.array(review) }),
  ]);
  return {
    said: [...reviewsOf(reviews.body), ...lines.body.map(lineOf)],
    more: lines.body.length === PAGE || reviews.body.length === PAGE,
  };
};

export const giteaLines: LinesOf = async (client, pull) => {
  const { body: reviews } = await client.call({
    method: 'GET',
    path: `${pull}/reviews?limit=${REVIEW_PAGE}`,
    answer: z.array(review),
  });
  const withLines = reviews.filter(({ comments_count }) => (comments_count ?? 0) > 0);
  const read = withLines.slice(-MAX_REVIEWS_WITH_LINES);
  const lines = await Promise.all(
    read.map((each) =>
      client.call({ method: 'GET', path: `${pull}/reviews/${part(each.id)}/comments`, answer: z.array(line) }),
    ),
  );
  const open = lines.flatMap(({ body }) => body).filter(({ resolver }) => resolver === null);
  return {
    said: [...reviewsOf(reviews), ...open.map(lineOf)],
    more: read.length < withLines.length || reviews.length === REVIEW_PAGE,
  };
};

/** Gitea gives all of them on each page. */
async function commentsOf(client: ProviderClient, subject: string): Promise<ThreadSaid> {
  const found = new Map<string, Said>();
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { body } = await client.call({
      method: 'GET',
      path: `${subject}/comments?per_page=${PAGE}&page=${page}`,
      answer: z.array(comment),
    });
    const before = found.size;
    for (const { id, ...each } of body) found.set(id, { passage: passageOf({ id, ...each }), lines: null });
    if (body.length !== PAGE || found.size === before) return { said: [...found.values()], more: false };
  }
  return { said: [...found.values()], more: true };
}

const passageOf = ({ id, body, html_url, created_at, user: author }: z.output<typeof comment>): Passage => ({
  id,
  author: actorOf(author),
  text: body,
  createdAt: created_at,
  url: html_url,
});

function lineOf({
  path,
  line: at,
  original_line,
  position,
  original_position,
  diff_hunk,
  ...rest
}: z.output<typeof line>): Said {
  return {
    passage: passageOf(rest),
    lines: { path, line: at ?? original_line ?? position ?? original_position ?? null, diffHunk: diff_hunk },
  };
}

function reviewsOf(reviews: readonly z.output<typeof review>[]): Said[] {
  return reviews.flatMap(({ submitted_at, ...each }) =>
    each.body.trim() === ''
      ? []
      : [{ passage: { ...passageOf({ ...each, created_at: submitted_at }), id: `review/${each.id}` }, lines: null }],
  );
}

const timeOf = ({ passage }: Said): number => Date.parse(passage.createdAt ?? '') || 0;
