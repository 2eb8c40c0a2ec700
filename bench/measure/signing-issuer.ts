// An OpenID Connect issuer that signs in whoever comes, as a process of its own: `signing-issuer.ts PORT`. GET / says how long it took over its answers.
import { SigningIssuer } from '@slipway/testing';

await SigningIssuer.start(Number(process.argv[2]));
