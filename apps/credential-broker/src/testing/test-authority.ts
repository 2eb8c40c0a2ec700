import 'reflect-metadata';
import { KeyObject, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

/** A certificate with its key, both PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/** An authority of a test. */
export class TestAuthority implements TestCertificate {
  private constructor(
    readonly cert: string,
    readonly key: string,
    private readonly certificate: x509.X509Certificate,
    private readonly pair: webcrypto.CryptoKeyPair,
  ) {}

  static async make(name: string): Promise<TestAuthority> {
    const pair = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: `4${randomBytes(8).toString('hex')}`,
      name: `CN=${name}`,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + DAY_MS),
      keys: pair,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    });
    return new TestAuthority(certificate.toString('pem'), pemOf(pair), certificate, pair);
  }

  /** @param notAfter [tomorrow] */
  async issue(name: string, notAfter = new Date(Date.now() + DAY_MS)): Promise<TestCertificate> {
    const pair = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: `4${randomBytes(8).toString('hex')}`,
      subject: `CN=${name}`,
      issuer: this.certificate.subject,
      notBefore: new Date(Date.now() - 2 * DAY_MS),
      notAfter,
      publicKey: pair.publicKey,
      signingKey: this.pair.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
    });
    return { cert: certificate.toString('pem'), key: pemOf(pair) };
  }
}

const pemOf = ({ privateKey }: webcrypto.CryptoKeyPair): string =>
  KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
