import { z } from 'zod';

/** As FileEditorAction; only the plan may be changed. */
export const PlanningFileEditorAction = z.looseObject({
  kind: z.literal('PlanningFileEditorAction'),
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string().min(1),
  file_text: z.string().nullish(),
  old_str: z.string().nullish(),
  new_str: z.string().nullish(),
  insert_line: z.int().min(0).nullish(),
  view_range: z.tuple([z.int(), z.int()]).nullish(),
});
export type PlanningFileEditorAction = z.infer<typeof PlanningFileEditorAction>;
