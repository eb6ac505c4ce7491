"""Fields that need no path of their own in the table of visibility, and why."""

SELF_ONLY = "answers with the viewer, whose fields have ways of their own"
ELSEWHERE = {
    "Mutation.signUp": SELF_ONLY,
    "Mutation.logIn": SELF_ONLY,
    "Mutation.refreshSession": SELF_ONLY,
    "Mutation.changePassword": SELF_ONLY,
    "Mutation.changeEmail": SELF_ONLY,
    "Mutation.updateProfile": SELF_ONLY,
    "Mutation.markHomeRead": SELF_ONLY,
    "Mutation.endSession": SELF_ONLY,
    "Mutation.confirmTwoFactor": SELF_ONLY,
    "Mutation.disableTwoFactor": SELF_ONLY,
    "Mutation.resendVerification": SELF_ONLY,
    "Mutation.verifyEmail": SELF_ONLY,
    "Mutation.resetPassword": SELF_ONLY,
    "SessionPayload.viewer": SELF_ONLY,
    "ConfirmTwoFactorPayload.viewer": SELF_ONLY,
    "ViewerPayload.viewer": SELF_ONLY,
    "UsersPayload.viewer": SELF_ONLY,
    "DeletePostPayload.author": SELF_ONLY,
    **dict.fromkeys(
        ("Mutation.createGroup", "Mutation.updateGroup", "Mutation.joinGroup", "Mutation.leaveGroup"),
        "answers with a group, whose fields have ways of their own",
    ),
    **dict.fromkeys(
        (
            "Mutation.approveGroupMembers",
            "Mutation.rejectGroupMembers",
            "Mutation.removeGroupMembers",
            "Mutation.banGroupMembers",
            "Mutation.unbanGroupMembers",
            "Mutation.setGroupRole",
        ),
        "moderators act on members of their group, whether they see them or not",
    ),
    "Subscription.upload": "only the viewer's own, as the tests of live uploads show",
    "Mutation.createPromotion": "administrators only; what a promotion shows has ways of its own",
    "Mutation.endPromotion": "administrators only",
    **dict.fromkeys(
        ("Mutation.createUpload", "UploadPayload.upload"),
        "answers with an upload of the viewer's own, whose picture has a way of its own",
    ),
    "PromotionPayload.promotion": "administrators only",
    "Mutation.setRole": "administrators only",
    **dict.fromkeys(
        (
            "Mutation.resolveReport",
            "Mutation.suspendUser",
            "Mutation.hideGroup",
            "Mutation.unhideGroup",
            "UserPayload.user",
        ),
        "moderators act on what they see in reports",
    ),
}
