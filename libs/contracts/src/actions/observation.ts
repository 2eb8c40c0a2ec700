import { z } from 'zod';
import { ObservationContent } from '../events/conversation-event.js';

/** What every answer of the sandbox has: text for the model, and pictures where there are some. */
export const baseObservation = z.looseObject({ content: z.array(ObservationContent), is_error: z.boolean() });

/**
 * Most of all pictures of one observation, as data URLs. A larger one is given as the file that holds it. UTF-16 code
 * units.
 */
export const MAX_IMAGES_LENGTH = 700_000;
