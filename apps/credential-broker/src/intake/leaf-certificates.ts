import 'reflect-metadata';
import { createPrivateKey, createPublicKey, KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { SlipwayError } from '@slipway/errors';

/** Remembered contexts; those that were not used for longest go first. */
const MAX_CONTEXTS = 1_000;
/** A leaf is good from an hour ago, for clocks that are behind. Milliseconds. */
const BEFORE_MS = 3_600_000;
const VALID_MS = 24 * 3_600_000;
/** A leaf this near to its end is made anew. Milliseconds. */
const RENEW_MS = 6 * 3_600_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

interface Made {
  readonly context: Promise<SecureContext>;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/**
 * Certificates for the hosts that sandboxes ask for, signed by the authority that they trust. One key a process, which
 * is never written anywhere.
 */
export class LeafCertificates {
  private readonly made = new Map<string, Made>();

  private constructor(
    private readonly authority: { readonly certificate: x509.X509Certificate; readonly key: webcrypto.CryptoKey },
    private readonly leaf: { readonly pair: webcrypto.CryptoKeyPair; readonly pem: string },
    private readonly now: () => Date,
  ) {}

  /**
   * @param certificateFile PEM file, or a folder of them.
   * @throws SlipwayError `config.invalid` where no certificate is that of the key, or the key is no P-256.
   */
  static async open(
    certificateFile: string,
    keyFile: string,
    now: () => Date = () => new Date(),
  ): Promise<LeafCertificates> {
    const key = await readFile(keyFile, 'utf8').then(
      (pem) => createPrivateKey(pem),
      (cause: unknown) => invalid('BROKER_CA_KEY_FILE: cannot be read', cause),
    );
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') invalid('BROKER_CA_KEY_FILE: is no P-256 key');
    const wanted = createPublicKey(key).export({ type: 'spki', format: 'der' });
    const pems = await readPems(certificateFile).catch((cause: unknown) =>
      invalid('BROKER_CA_FILE: cannot be read', cause),
    );
    const certificate = pems
      .map((pem) => new x509.X509Certificate(pem))
      .find((each) => wanted.equals(Buffer.from(each.publicKey.rawData)));
    if (certificate === undefined) invalid('BROKER_CA_FILE: has no certificate of the key in BROKER_CA_KEY_FILE');
    const pair = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const pem = KeyObject.from(pair.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
    const der = key.export({ type: 'pkcs8', format: 'der' });
    const signing = await webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
    der.fill(0);
    return new LeafCertificates({ certificate, key: signing }, { pair, pem }, now);
  }

  /** Of a host in the form of `canonicalHost`. */
  contextOf(host: string): Promise<SecureContext> {
    const known = this.made.get(host);
    const now = this.now().getTime();
    const made = known !== undefined && known.until - now > RENEW_MS ? known : this.make(host, now);
    this.made.delete(host);
    this.made.set(host, made);
    if (this.made.size > MAX_CONTEXTS) this.made.delete(this.made.keys().next().value as string);
    return made.context;
  }

  private make(host: string, now: number): Made {
    const context = this.issue(host, now).then((cert) =>
      createSecureContext({ key: this.leaf.pem, cert, minVersion: 'TLSv1.2' }),
    );
    // What failed is tried again.
    context.catch(() => this.made.delete(host));
    return { context, until: now + VALID_MS };
  }

  private async issue(host: string, now: number): Promise<string> {
    const { certificate, key } = this.authority;
    const serial = randomBytes(16);
    // Positive, and without a zero at its beginning.
    serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
    const issued = await x509.X509CertificateGenerator.create({
      serialNumber: serial.toString('hex'),
      issuer: certificate.subject,
      subject: host.length <= 64 ? `CN=${host}` : 'CN=Slipway',
      notBefore: new Date(now - BEFORE_MS),
      notAfter: new Date(now + VALID_MS),
      publicKey: this.leaf.pair.publicKey,
      signingKey: key,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        await x509.AuthorityKeyIdentifierExtension.create(certificate.publicKey),
        await x509.SubjectKeyIdentifierExtension.create(this.leaf.pair.publicKey),
      ],
    });
    // One that another authority has signed goes with it, so that the sandbox finds its root.
    const chain = certificate.subject === certificate.issuer ? '' : `\n${certificate.toString('pem')}`;
    return `${issued.toString('pem')}${chain}`;
  }
}

async function readPems(file: string): Promise<string[]> {
  const files = (await stat(file)).isDirectory()
    ? (await readdir(file)).filter((name) => /\.(pem|crt)$/.test(name)).map((name) => path.join(file, name))
    : [file];
  const texts = await Promise.all(files.map((each) => readFile(each, 'utf8')));
  return texts.flatMap((text) => text.match(PEM) ?? []);
}

function invalid(problem: string, cause?: unknown): never {
  throw new SlipwayError('config.invalid', `configuration:\n  ${problem}`, { cause });
}
