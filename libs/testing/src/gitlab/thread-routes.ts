import type { GitLabDiscussion, GitLabNote, GitLabThread } from './model.js';
import { missing, type ProjectCall, pageOf, type Route, type RouteAnswer, refused, shownUser } from './route.js';

const shownNote = (on: GitLabThread, note: GitLabNote): object => ({
  ...{
    id: note.id,
    body: note.body,
    author: shownUser(note.author),
    created_at: note.createdAt,
    system: false,
    internal: note.internal,
  },
  ...{ resolvable: on.kind === 'merge_requests' && note.position !== null, resolved: note.resolved },
  ...(note.position === null ? {} : { position: { new_path: note.position.path, new_line: note.position.line } }),
});
const shownDiscussion = (on: GitLabThread, { id, notes }: GitLabDiscussion): object => ({
  id,
  notes: notes.map((note) => shownNote(on, note)),
});
const notesOf = (on: GitLabThread): readonly GitLabNote[] => on.discussions.flatMap(({ notes }) => notes);

/** Of an issue or a merge request alike. */
const both = (
  at: string,
  answer: (call: ProjectCall, on: GitLabThread) => RouteAnswer | Promise<RouteAnswer>,
): readonly Route[] =>
  (['issues', 'merge_requests'] as const).map((kind) => ({
    at: at.replace('THREAD', `${kind}/*`),
    answer: (call) => {
      const on = call.project.threads.find((each) => each.kind === kind && String(each.iid) === call.parts[0]);
      // GitLab shows confidential items to members only.
      const hidden = on?.confidential === true && (call.project.members.get(call.by.id) ?? 0) < 20;
      return on === undefined || hidden ? missing(kind) : answer(call, on);
    },
  }));

const award =
  (target: (call: ProjectCall, on: GitLabThread) => string): ((call: ProjectCall, on: GitLabThread) => RouteAnswer) =>
  (call, on) => {
    const key = `${target(call, on)} ${String(call.body['name'])} ${call.by.id}`;
    if (on.awards.includes(key)) return [404, { message: '404 Award Emoji Name has already been taken Not Found' }];
    on.awards.push(key);
    return [201, { id: call.gitlab.nextId(), name: call.body['name'] }];
  };

export const threadRoutes: readonly Route[] = [
  ...both('GET /THREAD/notes', ({ query }, on) => {
    const notes = query.get('sort') === 'desc' ? notesOf(on).toReversed() : notesOf(on);
    return [200, pageOf(notes, query).map((note) => shownNote(on, note))];
  }),
  ...both('POST /THREAD/notes', ({ gitlab, project, by, body }, on) => [
    201,
    shownNote(
      on,
      gitlab.note(project, on, { body: String(body['body']), author: by, internal: body['internal'] === true }),
    ),
  ]),
  ...both('PUT /THREAD/notes/*', ({ by, parts: [, id], body }, on) => {
    const note = notesOf(on).find((each) => String(each.id) === id);
    if (note === undefined) return missing('Note');
    if (note.author.id !== by.id) return refused;
    note.body = String(body['body']);
    return [200, shownNote(on, note)];
  }),
  ...both(
    'POST /THREAD/award_emoji',
    award(() => 'subject'),
  ),
  ...both(
    'POST /THREAD/notes/*/award_emoji',
    award(({ parts: [, id] }) => `note ${id}`),
  ),
  ...both('GET /THREAD/discussions', ({ query }, on) => [
    200,
    pageOf(on.discussions, query).map((each) => shownDiscussion(on, each)),
  ]),
  ...both('POST /THREAD/discussions/*/notes', ({ gitlab, project, by, parts: [, id], body }, on) => {
    const discussion = on.discussions.find((each) => each.id === id);
    if (discussion === undefined) return missing('Discussion');
    return [201, shownNote(on, gitlab.note(project, on, { body: String(body['body']), author: by, discussion }))];
  }),
  ...both('PUT /THREAD/discussions/*', ({ query, parts: [, id] }, on) => {
    const discussion = on.discussions.find((each) => each.id === id);
    if (discussion === undefined) return missing('Discussion');
    for (const note of discussion.notes) note.resolved = query.get('resolved') === 'true';
    return [200, shownDiscussion(on, discussion)];
  }),
];
