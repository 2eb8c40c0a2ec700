import { dropWriting, noteWriting } from '../../browser/kept-writing.ts';

/** What a user wrote into a file and did not save, kept in this browser. */
export interface KeptDraft {
  /** The version that it was made from; `null`: there was no file. */
  readonly base: string | null;
  readonly text: string;
  readonly at: number;
}

const PREFIX = 'slipway:file-draft:';
const TAB = 'slipway:tab';

/**
 * Drafts of one conversation. Each tab keeps its own: two that edit one file do not overwrite each other. Storage that
 * is full or forbidden keeps nothing, and says so.
 */
export class KeptDrafts {
  private readonly prefix: string;
  private readonly tab: string;

  constructor(conversation: string) {
    this.prefix = `${PREFIX}${conversation}:`;
    this.tab = tabId();
  }

  /** Whether it is kept. */
  keep(path: string, draft: KeptDraft): boolean {
    try {
      window.localStorage.setItem(this.key(path), JSON.stringify(draft));
      noteWriting(window.localStorage, this.key(path), Date.now());
      return true;
    } catch {
      this.drop(path);
      return false;
    }
  }

  drop(path: string): void {
    try {
      dropWriting(window.localStorage, this.key(path));
    } catch {
      // Nothing was kept.
    }
  }

  /** This tab's, else the newest that another left; that is this tab's from here on. */
  take(path: string): KeptDraft | undefined {
    try {
      const own = read(this.key(path));
      if (own !== undefined) return own;
      const others = this.keys()
        .filter((key) => key.startsWith(`${this.prefix}${path}\0`))
        .map((key) => ({ key, draft: read(key) }))
        .filter((one): one is { key: string; draft: KeptDraft } => one.draft !== undefined)
        .sort((a, b) => b.draft.at - a.draft.at);
      const [newest] = others;
      if (newest === undefined || !this.keep(path, newest.draft)) return newest?.draft;
      dropWriting(window.localStorage, newest.key);
      return newest.draft;
    } catch {
      return undefined;
    }
  }

  /** Paths with something that was not saved, whichever tab left it. */
  paths(): string[] {
    try {
      const own = this.keys().filter((key) => key.startsWith(this.prefix));
      return [...new Set(own.map((key) => key.slice(this.prefix.length, key.lastIndexOf('\0'))))];
    } catch {
      return [];
    }
  }

  private key(path: string): string {
    return `${this.prefix}${path}\0${this.tab}`;
  }

  private keys(): string[] {
    return Array.from({ length: window.localStorage.length }, (_, index) => window.localStorage.key(index) ?? '');
  }
}

function read(key: string): KeptDraft | undefined {
  try {
    const value = JSON.parse(window.localStorage.getItem(key) ?? 'null') as KeptDraft | null;
    return value !== null && typeof value.text === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Lives as long as the tab, over reloads. */
function tabId(): string {
  try {
    const known = window.sessionStorage.getItem(TAB) ?? Math.random().toString(36).slice(2);
    window.sessionStorage.setItem(TAB, known);
    return known;
  } catch {
    return 'this';
  }
}
