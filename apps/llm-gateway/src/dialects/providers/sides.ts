import { merged } from '../parts.js';
import type { Part, Turn } from '../turns.js';

/** The turns of two sides who speak in turn. What comes between as an instruction is said to the model by the other side, at its place; nothing is left empty. */
export function twoSides(turns: readonly Turn[], isSaid: (part: Part) => boolean): Turn[] {
  const said = turns.map((turn): Turn => ({ role: turn.role === 'assistant' ? 'assistant' : 'user', parts: turn.parts.filter(isSaid) }));
  return merged(said.filter(({ parts }) => parts.length > 0));
}
