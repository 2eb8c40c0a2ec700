import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Events of one turn: the user's message, then so many calls with their answers. */
const CALLS_A_TURN = 49;

/**
 * Puts `count` events at the end of a finished conversation, straight into the database: turns of a user's message,
 * commands (one in each turn fails) and runs of edits that the page folds into one row.
 */
export async function lengthenLog(databaseUrl: string, conversation: string, count: number): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query('BEGIN');
    const { rows } = await database.query<{ org_id: string; head: number; epoch: number }>(
      `SELECT c.org_id, c.head::int AS head, (SELECT max(epoch) FROM app.event WHERE conversation_id = c.id) AS epoch
       FROM app.conversation c WHERE c.id = $1 FOR UPDATE`,
      [conversation],
    );
    const [at] = rows;
    if (at === undefined) throw new Error(`there is no conversation ${conversation}`);
    const events = eventsOf(count);
    await database.query(
      `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event)
       SELECT $1, $2 + n, $3, $4, (e->>'id')::uuid, e->>'kind', e::json
       FROM unnest($5::jsonb[]) WITH ORDINALITY AS given(e, n)`,
      [conversation, at.head, at.org_id, at.epoch, events.map((event) => JSON.stringify(event))],
    );
    await database.query('UPDATE app.conversation SET head = head + $2 WHERE id = $1', [conversation, count]);
    await database.query('COMMIT');
  } finally {
    await database.end();
  }
}

function eventsOf(count: number): object[] {
  const events: object[] = [];
  const began = Date.now() - count * 1_000;
  const add = (event: object): string => {
    const id = randomUUID();
    if (events.length < count)
      events.push({ id, timestamp: new Date(began + events.length * 1_000).toISOString(), source: 'agent', ...event });
    return id;
  };
  for (let turn = 1; events.length < count; turn += 1) {
    add({
      kind: 'MessageEvent',
      source: 'user',
      sender: 'Demo',
      llm_message: { role: 'user', content: [{ type: 'text', text: `Turn ${turn}: look at part ${turn}.` }] },
    });
    for (let call = 1; call <= CALLS_A_TURN; call += 1) addCall(add, turn, call);
  }
  return events;
}

function addCall(add: (event: object) => string, turn: number, call: number): void {
  const id = `call-${turn}-${call}`;
  const edits = call % 7 > 3;
  const path = `/workspace/project/src/part-${turn}.ts`;
  const action = edits
    ? {
        kind: 'FileEditorAction',
        command: 'str_replace',
        path,
        old_str: `old ${call}`,
        new_str: `needle-${turn}-${call}`,
      }
    : { kind: 'TerminalAction', command: `./check part-${turn} ${call}` };
  const actionId = add({
    kind: 'ActionEvent',
    thought: [],
    action,
    tool_name: edits ? 'file_editor' : 'terminal',
    tool_call_id: id,
    tool_call: { id, name: edits ? 'file_editor' : 'terminal', arguments: '{}' },
    llm_response_id: `r-${id}`,
    security_risk: 'LOW',
  });
  const text = (value: string) => [{ type: 'text', text: value }];
  add({
    kind: 'ObservationEvent',
    source: 'environment',
    action_id: actionId,
    tool_call_id: id,
    tool_name: edits ? 'file_editor' : 'terminal',
    observation: edits
      ? { kind: 'FileEditorObservation', content: text('edited'), is_error: false, command: 'str_replace', path }
      : {
          kind: 'TerminalObservation',
          content: text(`checked ${call}`),
          is_error: false,
          command: `./check part-${turn} ${call}`,
          exit_code: call === 15 ? 2 : 0,
        },
  });
}
