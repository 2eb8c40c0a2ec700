import { z } from 'zod';
import type { DeliveryRereading } from '../../calls/delivery-rereading.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, list, maybe, moment, name, text } from '../../reading/fields.js';
import { timeOf } from './moments.js';

const FIELDS = 'summary,description,labels,status,assignee,reporter,creator,security,created';
/**
 * Jira gives up on a delivery within hours. What was done longer before it came is an old deed behind a new delivery.
 * Milliseconds.
 */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;
/** Of the changes of an issue that was made just now. */
const MAX_CHANGES = 100;

/** Ids of issues, comments and changes are numbers: keys can be given to another issue. */
const number = z
  .union([z.number().int().nonnegative().transform(String), z.string()])
  .refine((value) => /^\d{1,18}$/.test(value));
const bodySchema = fields({
  webhookEvent: name,
  issue: fields({ id: number }),
  comment: maybe(fields({ id: number })),
  changelog: maybe(fields({ id: number })),
});

const account = fields({ accountId: name });
const issue = fields({ id: number, key: name, fields: z.record(z.string(), z.unknown()) });
const created = fields({ created: moment, creator: account });
const comment = fields({
  id: number,
  body: z.unknown(),
  author: z.looseObject({ accountId: name }),
  updateAuthor: maybe(account),
  created: moment,
  updated: moment,
  visibility: z.unknown().optional(),
  jsdPublic: z.boolean().nullish(),
});
const item = fields({
  field: name,
  from: maybe(name),
  fromString: maybe(text),
  to: maybe(name),
  toString: maybe(text),
});
const change = fields({
  id: number,
  author: maybe(z.looseObject({ accountId: name })),
  created: moment,
  items: list(item),
});

type Issue = z.output<typeof issue>;
type Change = z.output<typeof change>;

/** Deliveries to a webhook of an OAuth app: their JWT is that of the app, whatever the body. */
export const jiraRereading: Pick<DeliveryRereading, 'signatures' | 'reread'> = {
  signatures: ['jwt'],
  reread: async (client, { headers, body }, { baseUrl, receivedAt }) => {
    const said = bodySchema.safeParse(body);
    if (!said.success) return { unconfirmed: 'It names nothing that Jira could be asked about.' };
    const found = await reread(client, said.data, receivedAt);
    if (!isFound(found)) return found;
    const { id, key, fields: values } = found.issue;
    // The address that the API gives is its own, where the site has its pages elsewhere.
    const self = `${baseUrl}/rest/api/3/issue/${id}`;
    return {
      delivery: {
        headers,
        body: { ...found, webhookEvent: said.data.webhookEvent, issue: { id, key, self, fields: values } },
      },
    };
  },
};

interface Found {
  readonly issue: Issue;
  readonly [field: string]: unknown;
}
type Reread = Found | { readonly unconfirmed: string };

const isFound = (found: Reread): found is Found => 'issue' in found;

async function reread(client: ProviderClient, said: z.output<typeof bodySchema>, receivedAt: Date): Promise<Reread> {
  const at = `/issue/${said.issue.id}`;
  const asked = (await client.call({ method: 'GET', path: `${at}?fields=${FIELDS}`, answer: issue })).body;
  if (asked.id !== said.issue.id) return { unconfirmed: 'Jira knows the issue by another id.' };
  const isOld = (of: string | null): boolean => of === null || !(receivedAt.getTime() - timeOf(of) <= MAX_AGE_MS);
  if (said.webhookEvent === 'jira:issue_created') {
    const made = created.safeParse(asked.fields);
    if (!made.success || isOld(made.data.created)) return { unconfirmed: 'The issue was made long before.' };
    return { user: asked.fields['creator'], issue: await asCreated(client, at, asked, made.data.creator.accountId) };
  }
  if (said.changelog !== null) {
    const found = await changeOf(client, at, said.changelog.id);
    if (found.author === null || isOld(found.created))
      return { unconfirmed: 'The change was made long before, or has no author.' };
    return { user: found.author, issue: asked, changelog: { id: found.id, items: found.items } };
  }
  if (said.comment === null) return { unconfirmed: 'It names neither a comment nor a change.' };
  const { body } = await client.call({ method: 'GET', path: `${at}/comment/${said.comment.id}`, answer: comment });
  if (body.id !== said.comment.id) return { unconfirmed: 'Jira knows the comment by another id.' };
  if (isOld(body.created)) return { unconfirmed: 'The comment was made long before.' };
  // Who may edit the comments of others would speak for them.
  if (body.updated !== body.created && body.updateAuthor?.accountId !== body.author.accountId)
    return { unconfirmed: 'Another user than its author has edited the comment.' };
  return { issue: asked, comment: body, issue_event_type_name: 'issue_commented' };
}

async function changeOf(client: ProviderClient, issueAt: string, id: string): Promise<Change> {
  const answer = fields({ histories: list(change) });
  const { body } = await client.call({
    method: 'POST',
    path: `${issueAt}/changelog/list`,
    body: { changelogIds: [Number(id)] },
    answer,
  });
  const found = body.histories.find((each) => each.id === id);
  if (found === undefined)
    throw new ProviderRefusal('no such change', { kind: 'missing', status: 200, retryAt: null, outcomeUnknown: false });
  return found;
}

/** The issue with what stood in it when it was made: what others have changed since is not its creator's doing. */
async function asCreated(client: ProviderClient, issueAt: string, made: Issue, creator: string): Promise<Issue> {
  const answer = fields({ values: list(change), isLast: z.boolean().nullish() });
  const { body } = await client.call({ method: 'GET', path: `${issueAt}/changelog?maxResults=${MAX_CHANGES}`, answer });
  const first = (field: string): z.output<typeof item> | undefined =>
    body.values.flatMap(({ items }) => items).find((each) => each.field === field);
  const [labels, assignee] = [first('labels'), first('assignee')];
  const isOfOthers =
    body.isLast === false ||
    body.values.some(({ author, items }) => author?.accountId !== creator && items.some(isText));
  const were = {
    ...(labels === undefined ? {} : { labels: (labels.fromString ?? '').split(/\s+/).filter((each) => each !== '') }),
    ...(assignee === undefined ? {} : { assignee: assignee.from === null ? null : { accountId: assignee.from } }),
    ...(isOfOthers ? { description: quoted(made.fields['description']) } : {}),
  };
  return { ...made, fields: { ...made.fields, ...were } };
}

const isText = ({ field }: { readonly field: string }): boolean => field === 'description';

/** Words of others: a mention in a quotation asks for nothing. */
function quoted(description: unknown): unknown {
  const content =
    typeof description === 'string'
      ? { type: 'paragraph', content: [{ type: 'text', text: description }] }
      : description;
  return content === null || content === undefined
    ? null
    : { type: 'doc', content: [{ type: 'blockquote', content: [content] }] };
}
