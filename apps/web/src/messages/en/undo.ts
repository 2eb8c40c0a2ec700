export const undo = {
  undo: 'Undo',
} as const;
