// An OpenID Connect issuer that signs in whoever is expected, as a process of its own: `signing-issuer.ts PORT`. GET /
// says how long it took over its answers.
import { SigningIssuer } from '@slipway/testing';

const issuer = await SigningIssuer.start(Number(process.argv[2]));
issuer.hintIsUser = true;
