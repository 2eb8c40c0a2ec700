import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SlipwayError } from '@slipway/errors';

/** Most certificates in one file: the present one, the next one, and one too many by oversight. */
const MAX_CERTIFICATES = 4;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/**
 * Certificates of authorities, as PEM in one form: how a file is written changes nothing of what sandboxes are given.
 * @param variable that named the file, for the error.
 * @throws SlipwayError `config.invalid`: the file cannot be read, has none or too many, has one that is no authority's,
 * or a private key, which belongs to credential-broker alone.
 */
export function readCertificates(variable: string, file: string): string {
  const wrong = (why: string, cause?: unknown): SlipwayError =>
    new SlipwayError('config.invalid', `configuration:\n  ${variable}: ${file} ${why}`, { cause });
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`, error);
  }
  if (text.includes('PRIVATE KEY')) throw wrong('has a private key in it, which only credential-broker may have');
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0 || found.length > MAX_CERTIFICATES)
    throw wrong(`has ${found.length} certificates in it and not one to ${MAX_CERTIFICATES}`);
  try {
    const certificates = found.map((pem) => new X509Certificate(pem));
    if (certificates.some(({ ca }) => !ca)) throw wrong('has a certificate in it that is not an authority’s');
    return certificates
      .map((one) => one.toString().trim())
      .join('\n')
      .concat('\n');
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    throw wrong('has a certificate in it that cannot be read', error);
  }
}
