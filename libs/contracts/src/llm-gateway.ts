import { z } from 'zod';

/** llm-gateway: OpenAI's `/v1/chat/completions` and `/v1/models`, keys by LiteLLM's names. */

/** `POST /key/generate`, `Authorization: Bearer <master key>`. A new key of a conversation ends the ones before it. */
export const GenerateKey = z.looseObject({
  key_alias: z.string().max(200).optional(),
  /** Empty means every model. */
  models: z.array(z.string()).default([]),
  /** Seconds until it ends. */
  duration_seconds: z
    .int()
    .positive()
    .max(30 * 86_400)
    .default(86_400),
  metadata: z.object({ org_id: z.string(), conversation_id: z.uuid(), user_id: z.string().optional() }),
});
export type GenerateKey = z.infer<typeof GenerateKey>;
/** The key is in this answer and nowhere else: its SHA-256 is stored. */
export const GeneratedKey = z.object({ key: z.string(), key_id: z.string(), expires: z.iso.datetime() });
export type GeneratedKey = z.infer<typeof GeneratedKey>;
/** `POST /key/delete`. */
export const DeleteKeys = z.object({ conversation_id: z.uuid() });

/** The model id of the built-in scripted model. */
export const DEMO_MODEL = 'slipway-demo';

export const GatewayModel = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  demo: z.boolean().optional(),
  default: z.boolean().optional(),
});
export const GatewayModelList = z.looseObject({ object: z.literal('list'), data: z.array(GatewayModel) });
