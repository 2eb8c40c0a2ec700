import type { ErrorRow } from './error-row.js';

/** Failures of checkpoints: of their objects, trees and packs. */
export const CHECKPOINT_ERRORS = {
  'checkpoint.broken': {
    status: 502,
    title: 'The checkpoint cannot be read',
    retry: 'never',
    nextStep: 'Use an earlier checkpoint. Send the detail to the operator of Slipway.',
  },
  'checkpoint.too-large': {
    status: 413,
    title: 'The checkpoint is too large',
    retry: 'never',
    nextStep: 'Exclude large folders in .slipway/checkpoint.yml, or delete what is no longer needed.',
  },
  'checkpoint.unknown': {
    status: 409,
    title: 'The sandbox does not know this checkpoint',
    retry: 'later',
    nextStep: 'Slipway captures all files again and retries automatically.',
  },
  'fork.no-point': {
    status: 409,
    title: 'There is no checkpoint to fork from',
    retry: 'later',
    nextStep: 'Choose a later point, or wait until the agent has stopped once. `GET …/checkpoints` lists the points.',
  },
  'checkpoint.forked': {
    status: 409,
    title: 'Another conversation was forked from this checkpoint',
    retry: 'never',
    nextStep: 'Delete that conversation first, or keep the checkpoint.',
  },
} as const satisfies Record<string, ErrorRow>;
