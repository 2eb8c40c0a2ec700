import { describe, expect, it } from '@jest/globals';
import { t } from '../../../messages/testing.ts';
import type { Step } from '../timeline-row.ts';
import { browserDeed } from './browser-deed.ts';

const deed = (action: object | null, text = '', more: object = {}) =>
  browserDeed(t, {
    action,
    observation:
      text === ''
        ? null
        : { kind: 'BrowserObservation', content: [{ type: 'text', text }], is_error: false, page: null, ...more },
    error: null,
    interrupted: false,
  } as unknown as Step);
const page = { url: 'http://a.test/', title: 'A' };

describe('what a line of the timeline says of the browser', () => {
  it('names the address, before there is an answer too', () => {
    const navigate = { kind: 'BrowserNavigateAction', url: 'http://localhost:3000/' };
    expect(deed(navigate)).toEqual({ verb: 'Open', what: 'http://localhost:3000/' });
    expect(deed(navigate, 'The page is there.')).toEqual({ verb: 'Opened', what: 'http://localhost:3000/' });
    expect(deed({ kind: 'BrowserGetStateAction' }, 'x', { page })).toEqual({
      verb: 'Looked at',
      what: 'http://a.test/',
    });
    expect(deed({ kind: 'BrowserScrollAction', direction: 'up' }, 'x')).toEqual({ verb: 'Scrolled up', what: '' });
  });

  it('names an element as the page does, else by its number; what failed was not done', () => {
    const click = { kind: 'BrowserClickAction', index: 3 };
    expect(deed(click, 'Clicked [3] button "Say \\"yes\\"".\nTab a')).toEqual({
      verb: 'Clicked',
      what: 'button "Say \\"yes\\""',
    });
    expect(deed(click, 'There is no element [3] on the page now.', { is_error: true })).toEqual({
      verb: 'Click',
      what: 'element 3',
    });
  });

  it('says nothing of another kind of call, and something of one that only its answer is left of', () => {
    expect(deed({ kind: 'TerminalAction', command: 'ls' })).toBeNull();
    expect(deed(null, 'x', { page })).toEqual({ verb: 'Used the browser', what: 'http://a.test/' });
  });
});
