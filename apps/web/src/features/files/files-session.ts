import type { FilesLiveMessage } from '@slipway/contracts/live';
import type { Translate } from '../../messages/translate.ts';
import { FileStore } from './file-store.ts';
import { KeptDrafts } from './kept-drafts.ts';
import { LiveRequests } from './live-requests.ts';
import { TreeStore } from './tree-store.ts';

/**
 * What one conversation page knows of the sandbox's files, outside React: it outlives the panel, the connection and the
 * width of the window.
 */
export class FilesSession {
  readonly requests: LiveRequests;
  readonly tree: TreeStore;
  readonly files: FileStore;

  constructor(conversation: string, t: Translate) {
    this.requests = new LiveRequests((message) => this.receive(message), t);
    this.tree = new TreeStore(this.requests);
    this.files = new FileStore(this.requests, new KeptDrafts(conversation), t);
  }

  opened(): void {
    this.requests.lost();
    this.tree.opened();
    this.files.opened();
  }

  private receive(message: FilesLiveMessage): void {
    if (message.type === 'directory-changed') this.tree.changed(message.path, message.generation);
    else if (message.type === 'file') this.files.receive(message.path, message.file);
  }
}

const sessions = new WeakMap<object, FilesSession>();

/** One for each page of a conversation. @param page what lives as long as the page. */
export function filesSession(page: object, conversation: string, t: Translate): FilesSession {
  const session = sessions.get(page) ?? new FilesSession(conversation, t);
  sessions.set(page, session);
  return session;
}
