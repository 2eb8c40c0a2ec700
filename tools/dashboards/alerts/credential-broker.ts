import type { AlertGroup } from '../alert.ts';
import { over, rate } from '../query.ts';

export const credentialBroker: AlertGroup = {
  name: 'credential-broker',
  alerts: [
    {
      name: 'SlipwayCredentialSentBack',
      severity: 'warning',
      query: rate('credential_reflected_total', { window: '10m' }),
      comparator: '>',
      threshold: 0,
      summary: 'A host has sent the value of a credential back. It was masked, and the credential rests.',
    },
    {
      name: 'SlipwayBrokerUndecided',
      severity: 'critical',
      lasting: '5m',
      query: over(
        rate('broker_requests_total', { where: { outcome: { in: ['undecided', 'failed'] } }, window: '5m' }),
        rate('broker_requests_total', { window: '5m' }),
      ),
      comparator: '>',
      threshold: 0.1,
      summary: '{{ $value | humanizePercentage }} of the requests with a brokered credential cannot be decided.',
    },
  ],
};
