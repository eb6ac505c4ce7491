"""The mutations of pictures, which `schema.mutations.mutation` takes up."""

import strawberry

from resolvers import images, uploads
from schema.mutations.declaring import mutation
from schema.types.descriptions import limit
from schema.types.images import UpdateImageInput
from schema.types.uploads import CreateUploadInput


@strawberry.type
class PictureMutations:
    create_upload = mutation(
        uploads.create_upload,
        CreateUploadInput,
        "Announces a picture; its bytes are then PUT to the upload's url. A member announces at most "
        f"{limit('images_per_day')} pictures a day.",
    )
    update_image = mutation(
        images.update_image,
        UpdateImageInput,
        "Changes alt text and focus of a picture of the viewer's own, once it belongs to something.",
    )
