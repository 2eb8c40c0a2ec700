import { merged } from '../wire/parts.js';
import type { Part, Turn } from '../wire/turns.js';

/** Inserted where a conversation does not begin with the user: some are cut at their beginning. */
const OPENING: Turn = { role: 'user', parts: [{ kind: 'text', text: 'Go on.' }] };

/**
 * The turns of two sides who speak in turn, the user first. What comes between as an instruction becomes a message of
 * the user, in its place; nothing is left empty.
 */
export function twoSides(turns: readonly Turn[], isSaid: (part: Part) => boolean): Turn[] {
  const said = turns.map(
    (turn): Turn => ({ role: turn.role === 'assistant' ? 'assistant' : 'user', parts: turn.parts.filter(isSaid) }),
  );
  const turnsOfBoth = merged(said.filter(({ parts }) => parts.length > 0));
  return turnsOfBoth[0]?.role === 'user' ? turnsOfBoth : [OPENING, ...turnsOfBoth];
}
