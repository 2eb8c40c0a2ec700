import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { trustStoreOf } from '../java/trust-store.js';

/** Given by the activation: certificates that stand for hosts at which credential-broker opens TLS. PEM. */
export const EGRESS_CA = 'SLIPWAY_EGRESS_CA';
/** Where they are alone, for programs with a trust store of their own, such as Java's. */
export const EGRESS_CA_FILE = 'SLIPWAY_EGRESS_CA_FILE';

/** What programs read a file of roots from. Each takes it in place of its own roots, so that it has to hold all. */
const VARIABLES = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'NODE_EXTRA_CA_CERTS',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
  'DENO_CERT',
  'NPM_CONFIG_CAFILE',
] as const;

/** Where images keep their roots, the first that is there. */
const IMAGE_ROOTS = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];
/** Largest file of roots that is read; all that browsers trust is a quarter of a megabyte. Bytes. */
const MAX_ROOTS_BYTES = 8 * 1024 * 1024;

interface Written {
  readonly ca: string;
  /** All roots, and ours alone. PEM. */
  readonly file: string;
  readonly own: string;
  /** All roots, for Java. */
  readonly java: string;
}

/**
 * Files by which every program of the sandbox trusts the certificates of credential-broker: what the image trusts and
 * those, in one file that is no part of the workspace and of no archive.
 */
export class TrustBundle {
  #written: Written | null = null;

  /** @param own the environment of this process, whose own files of roots go into the bundle. */
  constructor(
    private readonly directory: string,
    private readonly own: Readonly<Record<string, string | undefined>>,
  ) {}

  /**
   * Variables for a command, whose files are there when this returns. @returns `null` where they cannot be written: the
   * next command tries again.
   */
  variables(ca: string): Readonly<Record<string, string>> | null {
    try {
      const { file, own } = this.#files(ca);
      return { ...Object.fromEntries(VARIABLES.map((name) => [name, file])), [EGRESS_CA_FILE]: own };
    } catch {
      return null;
    }
  }

  /** For Java, beside `variables`. @returns `null` where it cannot be written. */
  javaRoots(ca: string): string | null {
    try {
      return this.#files(ca).java;
    } catch {
      return null;
    }
  }

  #files(ca: string): Written {
    const known = this.#written;
    // A command may have emptied the folder for temporary files.
    if (known?.ca === ca && [known.file, known.own, known.java].every((file) => existsSync(file))) return known;
    mkdirSync(this.directory, { recursive: true, mode: 0o755 });
    const extra = this.#read(this.own['NODE_EXTRA_CA_CERTS']);
    const all = [this.#imageRoots(), extra ?? '', ca].map((text) => text.trim()).filter((text) => text !== '');
    const roots = `${all.join('\n')}\n`;
    const written = {
      ca,
      file: this.#write('roots.pem', roots),
      own: this.#write('egress.pem', ca),
      java: this.#write('roots.jks', trustStoreOf(roots)),
    };
    this.#written = written;
    return written;
  }

  #imageRoots(): string {
    for (const file of [this.own['SSL_CERT_FILE'], ...IMAGE_ROOTS]) {
      const found = this.#read(file);
      if (found?.includes('-----BEGIN CERTIFICATE-----') === true) return found;
    }
    return rootCertificates.join('\n');
  }

  #read(file: string | undefined): string | null {
    try {
      if (file === undefined || statSync(file).size > MAX_ROOTS_BYTES) return null;
      return readFileSync(file, 'utf8');
    } catch {
      return null;
    }
  }

  /** Under a name of its content, and whole or not at all: programs that run go on with the file that they have. */
  #write(what: string, text: string | Buffer): string {
    const { name: stem, ext } = path.parse(what);
    const name = `${stem}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}${ext}`;
    const file = path.join(this.directory, name);
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, text, { mode: 0o444 });
    chmodSync(draft, 0o444);
    renameSync(draft, file);
    return file;
  }
}
