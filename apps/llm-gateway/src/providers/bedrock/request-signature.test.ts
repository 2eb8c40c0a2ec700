import { describe, expect, it } from '@jest/globals';
import { type SignedRequest, signatureOf } from './request-signature.js';

const AT = new Date('2015-08-30T12:36:00Z');
const KEY = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
};
const SCOPE = { region: 'us-east-1', service: 'service' };
const TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

/** Cases and signatures of AWS's published suite for Signature Version 4, by their names there. */
const PUBLISHED: ReadonlyArray<
  [name: string, request: Partial<SignedRequest>, token: string | null, names: string, signature: string]
> = [
  [
    'get-vanilla',
    { method: 'GET' },
    null,
    'host;x-amz-date',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  ['post-vanilla', {}, null, 'host;x-amz-date', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-sts-header-before',
    {},
    TOKEN,
    'host;x-amz-date;x-amz-security-token',
    '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  ],
  [
    'get-utf8',
    { method: 'GET', path: '/ሴ' },
    null,
    'host;x-amz-date',
    '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  ],
  [
    'get-space-unnormalized',
    { method: 'GET', path: '/example space/' },
    null,
    'host;x-amz-date',
    '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  ],
  [
    'get-header-value-trim',
    {
      method: 'GET',
      headers: { host: 'example.amazonaws.com', 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    },
    null,
    'host;my-header1;my-header2;x-amz-date',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        host: 'example.amazonaws.com',
        'content-length': '13',
        'x-amz-content-sha256': '9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e',
      },
      body: Buffer.from('Param1=value1'),
    },
    null,
    'content-length;content-type;host;x-amz-content-sha256;x-amz-date',
    'd3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b',
  ],
];

describe('the signature of a request to AWS', () => {
  for (const [name, request, sessionToken, names, signature] of PUBLISHED) {
    it(`is the published one: ${name}`, () => {
      const headers = signatureOf(
        { method: 'POST', path: '/', headers: { host: 'example.amazonaws.com' }, body: Buffer.alloc(0), ...request },
        { ...KEY, sessionToken },
        SCOPE,
        AT,
      );
      expect(headers['authorization']).toBe(
        `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
      );
      expect(headers['x-amz-date']).toBe('20150830T123600Z');
      expect(headers['x-amz-security-token']).toBe(sessionToken ?? undefined);
    });
  }
});
