import { createHash, X509Certificate } from 'node:crypto';

const MAGIC = 0xfe_ed_fe_ed;
const VERSION = 2;
const TRUSTED = 2;
/** Java's own: what its digest is salted with, and the password that everybody uses for roots. */
const SALT = 'Mighty Aphrodite';
const PASSWORD = 'changeit';

/**
 * Certificates as a file that Java takes roots from, in its format JKS: every Java reads it, without asking for more
 * than the file's name.
 * @param pem certificates in a row; what cannot be read is left out.
 */
export function trustStoreOf(pem: string): Buffer {
  const certificates = (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).flatMap(
    (each) => {
      try {
        return [new X509Certificate(each).raw];
      } catch {
        return [];
      }
    },
  );
  const body = Buffer.concat([
    uint32(MAGIC),
    uint32(VERSION),
    uint32(certificates.length),
    ...certificates.flatMap((der, index) => [
      uint32(TRUSTED),
      text(`root-${index}`),
      // When it was added: of no use to anybody, and the same file for the same certificates.
      Buffer.alloc(8),
      text('X.509'),
      uint32(der.length),
      der,
    ]),
  ]);
  // Java writes the characters of the password with the higher byte first.
  const salted = createHash('sha1')
    .update(Buffer.from(PASSWORD, 'utf16le').swap16())
    .update(SALT)
    .update(body)
    .digest();
  return Buffer.concat([body, salted]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** As `DataOutput.writeUTF`, of ASCII. */
function text(value: string): Buffer {
  const bytes = Buffer.alloc(2 + value.length);
  bytes.writeUInt16BE(value.length);
  bytes.write(value, 2, 'latin1');
  return bytes;
}
