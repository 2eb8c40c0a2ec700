/**
 * A shorter value is given and used, and cannot be masked: it would take half of every text with it. UTF-16 code units.
 */
export const MIN_MASKED_LENGTH = 6;
