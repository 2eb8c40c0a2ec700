import { describe, expect, it } from '@jest/globals';
import { type FileState, type FilesLiveRequest, textChecksum } from '@slipway/contracts/live';
import { t } from '../../messages/testing.ts';
import { FilesSession } from './files-session.ts';

const text = (content: string, version: string): FileState => ({
  kind: 'text',
  text: content,
  version,
  encoding: 'utf8',
  checksum: textChecksum(content),
  sizeBytes: content.length,
  readOnly: false,
});

/** A browser's storage, as far as drafts need it. */
class Storage {
  readonly items = new Map<string, string>();
  getItem = (key: string): string | null => this.items.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.items.set(key, value);
  removeItem = (key: string): void => void this.items.delete(key);
  key = (index: number): string | null => [...this.items.keys()][index] ?? null;
  get length(): number {
    return this.items.size;
  }
}

/** A page with a connection of which the test is the other end. */
function page(localStorage: Storage) {
  Object.assign(globalThis, { window: { localStorage, sessionStorage: new Storage() } });
  const session = new FilesSession('c', t);
  const sent: FilesLiveRequest[] = [];
  session.requests.over((message) => sent.push(message) > 0);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const idOf = (type: string): number => (sent.findLast((message) => message.type === type) as { id: number }).id;
  const show = async (file: FileState): Promise<void> => {
    session.requests.receive({ type: 'file', id: idOf('open'), path: 'a', file });
    await settle();
  };
  return { session, sent, settle, idOf, show, file: () => session.files.file.get() };
}

describe('the open file', () => {
  it('keeps what was typed over a reload, and says that the file changed meanwhile', async () => {
    const storage = new Storage();
    const before = page(storage);
    before.session.files.open('a');
    await before.show(text('base', '1'));
    before.session.files.typed('mine');
    before.session.files.flush();
    const after = page(storage);
    expect([...after.session.files.unsaved.get()]).toEqual(['a']);
    after.session.files.open('a');
    await after.show(text('theirs', '2'));
    expect(after.file()?.draft).toMatchObject({ draft: 'mine', theirs: { text: 'theirs', version: '2' } });
    after.session.files.choose('keep-mine');
    expect(after.sent.at(-1)).toMatchObject({ type: 'write', text: 'mine', base: '2' });
    after.session.requests.receive({ type: 'written', id: after.idOf('write'), path: 'a', version: '3' });
    await after.settle();
    expect([after.file()?.draft?.draft, storage.length, after.session.files.unsaved.get().size]).toEqual([null, 0, 0]);
  });

  it('knows by looking whether a save arrived whose answer was cut off', async () => {
    for (const [there, unsaved] of [
      [text('mine', '2'), null],
      [text('base', '1'), 'mine'],
    ] as const) {
      const { session, show, file, settle } = page(new Storage());
      session.files.open('a');
      await show(text('base', '1'));
      session.files.typed('mine');
      void session.files.save();
      session.opened();
      await settle();
      await show(there);
      expect(file()?.draft).toMatchObject({ draft: unsaved, theirs: null, saving: null });
    }
  });

  it('keeps a draft while another file is open', async () => {
    const { session, show, file } = page(new Storage());
    session.files.open('a');
    await show(text('base', '1'));
    session.files.typed('mine');
    session.files.open('b');
    session.files.open('a');
    expect(file()?.draft?.draft).toBe('mine');
    await show(text('theirs', '2'));
    expect(file()?.draft).toMatchObject({ draft: 'mine', theirs: { text: 'theirs' } });
  });

  it('writes no text in which something was hidden on its way', async () => {
    const { session, show, file, sent } = page(new Storage());
    session.files.open('a');
    await show({ ...text('token: <hidden>', '1'), checksum: textChecksum('token: s3cret') } as FileState);
    expect(file()?.masked).toBe(true);
    session.files.typed('token: <hidden>!');
    await session.files.save();
    expect(sent.some(({ type }) => type === 'write')).toBe(false);
  });

  it('takes its draft along when it is moved', async () => {
    const { session, show } = page(new Storage());
    session.files.open('a');
    await show(text('base', '1'));
    session.files.typed('mine');
    expect(session.files.moved('a', 'b')).toBe('b');
    session.files.open('b');
    expect([session.files.file.get()?.draft?.draft, ...session.files.unsaved.get()]).toEqual(['mine', 'b']);
  });
});
