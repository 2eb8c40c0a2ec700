import { describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { toWire } from '@slipway/llm';
import { messagesOf } from './prompt.js';
import { withShownPictures } from './shown-pictures.js';

const file = (name: string, mediaType = 'image/png', bytes = 10) => ({
  id: '00000000-0000-4000-8000-0000000000aa',
  name,
  media_type: mediaType,
  size_bytes: bytes,
  path: `/w/${name}`,
});
const said = (number: number, text: string, attachments: ReturnType<typeof file>[]): ConversationEvent => ({
  id: `00000000-0000-4000-8000-00000000000${number}`,
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'user',
  kind: 'MessageEvent',
  llm_message: {
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'text', text: '\n\nAttached files: …' },
    ],
  },
  attachments,
});
const read = async ({ path }: { path: string }) => (path.includes('gone') ? null : `data:image/png;base64,${path}`);

describe('pictures of a message', () => {
  it('follow its text for a model that sees them; others read where they lie', async () => {
    const events = [
      said(1, 'look', [file('a.png'), file('log.txt', 'text/plain'), file('huge.png', 'image/png', 9e6)]),
    ];
    const messages = await withShownPictures(messagesOf(events), read);
    expect(toWire({ messages, tools: [] }, true)).toEqual({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look\n\nAttached files: …' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,/w/a.png' } },
          ],
        },
      ],
    });
    expect(toWire({ messages, tools: [] }, false)).toEqual({
      messages: [{ role: 'user', content: 'look\n\nAttached files: …' }],
    });
  });

  it('are the newest, and one that is gone leaves its message as text', async () => {
    const events = Array.from({ length: 8 }, (_, index) => said(index, `${index}`, [file(`${index}.png`)]));
    events.push(said(8, 'gone', [file('gone.png')]));
    const messages = await withShownPictures(messagesOf(events), read);
    expect(messages.map((message) => (message.role === 'user' ? (message.images?.length ?? 0) : 0))).toEqual([
      0, 0, 1, 1, 1, 1, 1, 1, 0,
    ]);
    expect(JSON.stringify(messages)).not.toContain('pictures');
  });
});
