/** What is typed in a field whose value is held in the address, which follows a moment later. */
export interface TypedSearch {
  readonly typed: string;
  /** What the address had last. */
  readonly seen: string;
  /** What the address was asked to have and has not had yet; oldest first. */
  readonly asked: readonly string[];
}

/** What the address has or will have, without more typing. */
export const wantedOf = ({ seen, asked }: TypedSearch): string => asked.at(-1) ?? seen;

/**
 * The address has `value`: what was asked for keeps what was typed since; anything else (Back, "Clear filters")
 * replaces it.
 */
export function withAddress(state: TypedSearch, value: string): TypedSearch {
  if (value === state.seen) return state;
  const own = state.asked.indexOf(value);
  return own === -1
    ? { typed: value, seen: value, asked: [] }
    : { ...state, seen: value, asked: state.asked.slice(own + 1) };
}
