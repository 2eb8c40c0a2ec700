import { startIdentityServer } from '@slipway/testing';
import { describeIssuer } from './testing/index.js';

describeIssuer('the embedded one', async (appUrl) => ({
  ...(await startIdentityServer(appUrl)),
  user: { username: 'demo', password: 'demo', name: 'Demo Person', email: 'demo@example.test' },
}));
