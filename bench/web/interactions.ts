import type { Page } from 'playwright-core';

/** The page on which an interaction happens. */
export type Stage = 'desk' | 'work' | 'conversation';

interface Interaction {
  readonly on: Stage;
  readonly run: (page: Page) => Promise<void>;
}

const key =
  (...keys: string[]): Interaction['run'] =>
  async (page) => {
    for (const each of keys) await page.keyboard.press(each);
  };
const press =
  (role: Parameters<Page['getByRole']>[0], name: string | RegExp): Interaction['run'] =>
  (page) =>
    page.getByRole(role, { name }).first().click();
const desk = (run: Interaction['run']): Interaction => ({ on: 'desk', run });
const work = (run: Interaction['run']): Interaction => ({ on: 'work', run });
const conversation = (run: Interaction['run']): Interaction => ({ on: 'conversation', run });

/** One after the other: each finds what those before it have left. */
export const INTERACTIONS: Readonly<Record<string, Interaction>> = {
  'leave the box of a task': desk(key('Escape')),
  'next row of the Desk': desk(key('j')),
  'one more row of the Desk': desk(key('j')),
  'previous row of the Desk': desk(key('k')),
  'unfold a reply': desk(key('r')),
  'write in the reply': desk(key('x')),
  'take the letter back': desk(key('Backspace')),
  'fold the reply': desk(key('Escape')),
  'menu of a row': desk(press('button', /^Actions of /)),
  'close the menu of a row': desk(key('Escape')),
  'open the palette': desk(key('ControlOrMeta+k')),
  'search in the palette': desk(key('c')),
  'next entry of the palette': desk(key('ArrowDown')),
  'close the palette': desk(key('Escape')),
  'list of shortcuts': desk(key('?')),
  'close the list of shortcuts': desk(key('Escape')),
  'focus the box of a task': desk(press('textbox', 'Task')),
  'write a task': desk(key('x')),
  'search field of the list': work(press('searchbox', 'Search titles')),
  'search in the list': work(key('b')),
  'clear the search': work(key('Backspace')),
  'select a conversation': work(press('checkbox', /^Select /)),
  'select all': work(press('button', 'Select all')),
  'clear the selection': work(press('button', 'Clear selection')),
  'choice of a status': work(press('combobox', 'Status')),
  'close the choice of a status': work(key('Escape')),
  'menu of a conversation': work(press('button', /^Actions of /)),
  'close the menu of a conversation': work(key('Escape')),
  'focus the box of a message': conversation(press('textbox', /^Message$/)),
  'write a message': conversation(key('x')),
  'take a letter of a message back': conversation(key('Backspace')),
  'leave the box of a message': conversation(key('Escape')),
  'last row of the timeline': conversation(key('ArrowUp')),
  'row before': conversation(key('ArrowUp')),
  'previous turn': conversation(key('[')),
  'one more turn': conversation(key('[')),
  'next turn': conversation(key(']')),
  'previous failure': conversation(key('{')),
  'open the bar of finding': conversation(key('ControlOrMeta+f')),
  'find a word': conversation(key('r')),
  'close the bar of finding': conversation(key('Escape')),
  'list of turns': conversation(key('g', 'j')),
  'search in the list of turns': conversation(key('7')),
  'close the list of turns': conversation(key('Escape')),
  'menu of the conversation': conversation(press('button', 'More actions')),
  'close the menu': conversation(key('Escape')),
  'pane of details': conversation(key('g', 'i')),
};
