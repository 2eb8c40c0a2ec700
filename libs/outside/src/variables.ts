import { METADATA_RANGES } from '@slipway/net';
import { z } from 'zod';
import { AddressRanges } from './address-ranges.js';

/**
 * Addresses that no operator can permit to sandboxes: the process's own machine, its link-local network with the
 * metadata services, and broadcast.
 */
export const NEVER_PERMITTED = AddressRanges.read(
  [
    '0.0.0.0/8,127.0.0.0/8,224.0.0.0/3,::/96,::ffff:0:0/96,ff00::/8',
    ...METADATA_RANGES.map(({ network, prefix }) => `${network}/${prefix}`),
  ].join(','),
);

/** A variable with networks, comma-separated [none]. */
export const rangesVariable = z
  .string()
  .default('')
  .transform((text, context): AddressRanges => {
    try {
      return AddressRanges.read(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });

/** A variable with ports, comma-separated; without a default of its own. */
export const portsVariable = z
  .string()
  .regex(/^[1-9][0-9]{0,4}(,[1-9][0-9]{0,4})*$/, 'needs port numbers with commas between them')
  .transform((text) => text.split(',').map(Number));

/** A variable with names or addresses, comma-separated [none]. */
export const listVariable = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])));
