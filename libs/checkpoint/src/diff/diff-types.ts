/** One difference between two checkpoints. Paths are bytes, one a character, root name included. */
export type Difference =
  | {
      readonly kind: 'added' | 'deleted';
      readonly path: string;
      readonly what: 'file' | 'link' | 'folder';
      readonly size: number;
    }
  | { readonly kind: 'changed'; readonly path: string; readonly what: 'file' | 'link'; readonly size: number }
  | { readonly kind: 'mode'; readonly path: string; readonly from: number; readonly to: number }
  | { readonly kind: 'renamed'; readonly path: string; readonly from: string; readonly what: 'file' | 'folder' };
