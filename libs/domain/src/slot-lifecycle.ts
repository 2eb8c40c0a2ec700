/**
 * One sandbox of the warm pool, from the intent to make it until it is gone. Only forward edges: a slot that was ever
 * bound never becomes ready again. The database holds the same edges in a trigger (`runtime.guard_slot`).
 */
export const SLOT_TRANSITIONS = {
  intent: { 'creation-began': 'provisioning', doomed: 'doomed' },
  provisioning: { 'became-ready': 'ready', doomed: 'doomed' },
  ready: { claimed: 'bound', doomed: 'doomed' },
  bound: { activated: 'active', released: 'releasing' },
  active: { released: 'releasing' },
  releasing: { removed: 'gone' },
  doomed: { removed: 'gone' },
  gone: {},
} as const;

export type SlotState = keyof typeof SLOT_TRANSITIONS;
type Table = typeof SLOT_TRANSITIONS;
export type SlotTrigger = { [S in SlotState]: keyof Table[S] }[SlotState] & string;

/** The next state, or `null` when the trigger does not apply: late and repeated signals are normal, not errors. */
export function nextSlotState(state: SlotState, trigger: SlotTrigger): SlotState | null {
  const row: Partial<Record<string, SlotState>> = SLOT_TRANSITIONS[state];
  return row[trigger] ?? null;
}

/** All of them, in the order of a slot's lifecycle. */
export const SLOT_STATES = Object.keys(SLOT_TRANSITIONS) as readonly SlotState[];

/** The only states in which a sandbox may be deleted. */
export const REMOVABLE_SLOT_STATES: ReadonlySet<SlotState> = new Set(
  SLOT_STATES.filter((state) => nextSlotState(state, 'removed') !== null),
);

/**
 * States that count against a pool's target: made or being made, and never given to anybody. A doomed one counts until
 * it is gone.
 */
export const UNCLAIMED_SLOT_STATES: ReadonlySet<SlotState> = new Set(['intent', 'provisioning', 'ready', 'doomed']);
