import { describe, it } from 'node:test';
import { expect } from 'expect';
import { browserDeed } from './browser-deed.ts';

type Given = Parameters<typeof browserDeed>[0];
const deed = (action: object | null, text = '', page: object | null = null) =>
  browserDeed({
    action,
    observation: text === '' ? null : { kind: 'BrowserObservation', content: [{ type: 'text', text }], is_error: false, page },
  } as unknown as Given);

describe('what a line of the timeline says of the browser', () => {
  it('names the address, before there is an answer too', () => {
    expect(deed({ kind: 'BrowserNavigateAction', url: 'http://localhost:3000/' })).toEqual({ verb: 'Opened', what: 'http://localhost:3000/' });
    expect(deed({ kind: 'BrowserGetStateAction' }, 'x', { url: 'http://a.test/', title: 'A' })).toEqual({ verb: 'Looked at', what: 'http://a.test/' });
    expect(deed({ kind: 'BrowserGetStateAction' })).toEqual({ verb: 'Looked at', what: 'the page' });
  });

  it('names an element as the page does, else by its number', () => {
    expect(deed({ kind: 'BrowserClickAction', index: 3 }, 'Clicked [3] button "Say \\"yes\\"".\nTab a')).toEqual({
      verb: 'Clicked',
      what: 'button "Say \\"yes\\""',
    });
    expect(deed({ kind: 'BrowserTypeAction', index: 3, text: 'x' })).toEqual({ verb: 'Typed into', what: 'element 3' });
  });

  it('says nothing of another kind of call, and something of one that only its answer is left of', () => {
    expect(deed({ kind: 'TerminalAction', command: 'ls' })).toBeNull();
    expect(deed(null, 'x', { url: 'http://a.test/', title: '' })).toEqual({ verb: 'Used the browser', what: 'http://a.test/' });
  });
});
